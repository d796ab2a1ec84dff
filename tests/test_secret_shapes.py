"""Which texts are secrets, and what is left of them in a text that is shown."""

from __future__ import annotations

import time

import pytest

from materiac.secret_shapes import is_secret, literals, names_secret, veiled

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij0123456789"
WELL_KNOWN = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
    ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
)
"""The example of those who explain such tokens."""

SECRETS = {
    "sk": ("an API key", f"sk-proj-{BODY}"),
    "stripe": ("a Stripe key", f"sk_live_{BODY}"),
    "github": ("a GitHub token", f"ghp_{BODY}"),
    "github, fine": ("a GitHub token", "github_pat_11ABCDEFG0123456789_abcdefghijklmnop"),
    "gitlab": ("a GitLab token", f"glpat-{BODY[:20]}"),
    "slack": ("a Slack token", "xoxb-123456789012-abcdEFGH1234ijkl"),
    "slack webhook": (
        "the address of a webhook",
        f"hooks.slack.com/services/T01AB2CD3/B01AB2CD3/{BODY[:24]}",
    ),
    "aws": ("an AWS access key", "AKIAQ2W3E4R5T6Y7U8I9"),
    "google": ("a Google API key", f"AIza{BODY[:35]}"),
    "npm": ("an npm token", f"npm_{BODY}"),
    "hugging face": ("a Hugging Face token", f"hf_{BODY}"),
    "sendgrid": ("a SendGrid key", f"SG.{BODY[:22]}.{BODY}aBcD3f7"),
    "jwt": ("a JSON web token", JWT),
}
"""Made up, every one."""

IN_WORDS = {
    "option": ("--api-key=", "q8Zr2LmP0xTt", ""),
    "option and value": ("tool --token ", "q8Zr2LmP0xTt", " --fast"),
    "entries of a list": ('["tool", "--token", "', "q8Zr2LmP0xTt", '"]'),
    "assignment": ("PASSWORD=", "Sup3rS3cret", " run.sh"),
    "quoted": ("password: '", "Sup3rS3cret", "'"),
    "JSON": ('{"clientSecret": "', "q8Zr2LmP0xTt", '"}'),
    "header": ('curl -H "Authorization: Bearer ', BODY, '"'),
    "basic": ("Authorization: Basic ", "dXNlcjE6cGFzc3dvcmQx", ""),
    "address": ("https://bob:", "hunter2xyz9", "@host.example/x"),
    "hex": ("TOKEN=", "a8f3b2c9d1e4", ""),
    "hex, in capitals": ("tool --token ", "A1B2C3D4E5F6G7H8", ""),
    "authorization": ('curl -H "Authorization: token ', BODY, '"'),
    "storage": ("AccountName=acme;AccountKey=", f"{BODY}/+x==", ";EndpointSuffix=core"),
    "user": ("curl -u bob:", "s3cr3tP4ss", " https://acme.dev"),
    "long user": ("curl --user bob:", "s3cr3tP4ss", " https://acme.dev"),
    "a name in prose": ("log in with the password: ", "q8Zr2LmP0xTt", ", please"),
    "escaped quotes": ('token=\\"', "l8Zr2LmP0xTt1", '\\"'),
    "JSON in JSON": ('{\\"apiKey\\": \\"', "q8Zr2LmP0xTt", '\\"}'),
    "JSON in JSON in JSON": ('{\\\\\\"apiKey\\\\\\": \\\\\\"', "q8Zr2LmP0xTt", '\\\\\\"}'),
    "a line below": ('"apiKey":\n                    "', "q8Zr2LmP0xTt", '"'),
    "an argument a line below": ('"--token",\n\n                    "', "q8Zr2LmP0xTt", '"'),
    "private key": (
        "-----BEGIN RSA PRIVATE KEY-----",
        "\nMIIEowIBAAKCAQEAabcdef\n",
        "-----END RSA PRIVATE KEY-----",
    ),
}

HARMLESS = (
    "--api-key=${API_KEY}",
    "API_KEY=$KEY",
    "password=changeme1a2b",
    "sk-learn-0-24-classifier-something",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-" + "a1" * 20,
    "ghp_" + "0" * 36,
    "AKIAIOSFODNN7EXAMPLE",
    "token: sha256-hashed",
    "the token is utf8-encoded",
    "token=state.apiToken2x1",
    "--token-file=/run/secrets/t0k3n",
    "--token /run/secrets/t0k3n",
    "--token env:DEPLOY_T0K3N",
    "api key: {{state.k1e2y3}}",
    "Authorization: Bearer $TOKEN_A1B2C3D4E5",
    "Authorization: Bearer <your-token-1a2b3c4d>",
    "secret=OPENAI_API_KEY_2",
    "https://host/a:b@c",
    "https://user:$PASSW0RD1x@host/",
    "max_tokens=200000",
    "tokenizer=gpt2-v1x3",
    "token = getToken2x1()",
    "password=short",
    "--max-tokens 128000k2x9",
    "--max-new-tokens=128000k2x9",
    '"maxOutputTokens": "128000k2x9"',
    "--token-limit 128000k2x9",
    "--num_tokens 12k8x9a7b",
    "postgres://test:test1234test@localhost:5432/db",
    "postgres://app:a1b2c3d4e5f6@localhost/db",
    "https://example:a1b2c3d4e5f6@acme.dev",
    "redis://default:a1b2c3d4e5f6@127.0.0.1:6379",
    "function verify(token: JwtToken2V1) must reject password: string8char",
    "token kv/data/team1/app2",
    "--token kv/data/team1/app2",
    "docker run -u 1000:1000 image1a2b",
    "docker run -u app:developers image1a2b",
    f"Authorization: Bearer {WELL_KNOWN}",
    WELL_KNOWN,
    "--token MY_TOKEN_2A3B4C",
    "--token SHA256SUMS",
    "SG.is.no.key",
    "git push -u origin:feature12b",
    "docker run -u node:node18x20",
    "secret: k8s-secret-name1a2b3c",
    "--secret=db-password-2024a1b",
    "--secret id=npmrc,src=x1y2z3",
    "the token: ${{ secrets.T0K3N1X2 }}",
    '"key": "a1b2c3d4e5f6"',
    '"secretName": "db-cred-1a2b3c"',
    "ask-me-anything-about-the-thing-1a2b3c",
    "commit 3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39",
    "-----BEGIN PUBLIC KEY-----\nMIIEowIBAAKCAQEAabcdef\n-----END PUBLIC KEY-----",
)


@pytest.mark.parametrize(("kind", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_of_a_well_known_shape(kind: str, secret: str) -> None:
    text = f"run it with {secret}, please"
    (found,) = literals(text)
    assert (found.kind, text[found.start : found.end]) == (kind, secret)
    masked = veiled(text)
    assert len(masked) == len(text)
    assert secret[:4] in masked
    assert secret[4:12] not in masked


@pytest.mark.parametrize(("before", "secret", "after"), IN_WORDS.values(), ids=IN_WORDS)
def test_a_secret_that_is_told_by_what_stands_before_it(before: str, secret: str, after: str) -> None:
    text = f"{before}{secret}{after}"
    (found,) = literals(text)
    assert text[found.start : found.end] == secret
    hidden = "".join("\n" if character == "\n" else "*" for character in secret)
    assert veiled(text) == f"{before}{hidden}{after}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\u0074oken=q8Zr2LmP0xTt", r"\u0074oken=************"),
        (r"token=q8Zr\u0032LmP0xTt", r"token=*****************"),
        (r"Use\nghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n", rf"Use\nghp_{'*' * 36}\n"),
        (r"gh\u0070_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", rf"gh\u0070_{'*' * 36}"),
        (r"a\\b and nothing else\"", r"a\\b and nothing else\""),
    ],
)
def test_what_is_escaped_is_masked_too(text: str, shown: str) -> None:
    assert veiled(text) == shown


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret(text: str) -> None:
    assert list(literals(text)) == []
    assert veiled(text) == text


@pytest.mark.parametrize(
    ("name", "said"),
    [("apiKey", True), ("--token", True), ("GITHUB_TOKEN", True), ("passwords", True), ("clientSecret", True),
     ("key", False), ("cacheKey", False), ("tokenizer", False), ("maxTokensLeft", False),
     ("maxTokens", False), ("--max-tokens", False), ("--token-limit", False),
     ("accountKey", True), ("tokens", True)],
)  # fmt: skip
def test_names_of_secrets(name: str, *, said: bool) -> None:
    assert names_secret(name) == said


def test_a_secret_is_neither_a_word_nor_a_reference() -> None:
    assert is_secret("q8Zr2LmP0xTt")
    assert not any(map(is_secret, ("correct-horse", "12345678", "v1a2b3", "./t0k3n1x2", "KEY_1A2B3C4D")))


@pytest.mark.parametrize(
    "part",
    [
        "token",
        "a-",
        "sk-a",
        "eyJ.",
        "://a:",
        "Bearer ",
        "--token ",
        "-----BEGIN ",
        "a_key= ",
        "token  \n",
        "-u a:",
        '\\"token\\"',
    ],
)
def test_long_texts_take_little_time(part: str) -> None:
    text = part * (400_000 // len(part))
    began = time.perf_counter()
    list(literals(text))
    assert time.perf_counter() - began < 2
