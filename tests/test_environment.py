"""Which variables are secrets, and that they are left out and masked."""

from __future__ import annotations

import base64
import json
import random
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from materiac.environment import MASK, Mask, clean, looks_secret, secrets, withheld

SECRET = [
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "OPENAI_API_KEY",
    "OPENAI_APIKEY",
    "DB_PASSWORD",
    "PGPASSWORD",
    "MYTOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "openaiApiKey",
    "gitlab_token",
    "npm_config__authToken",
    "passWord",
    "COMMONKEY",
    "DAEMONKEY",
    "MONKEY_API_KEY",
    "KEYBOARD_TOKEN",
    "SURVEYMONKEY_TOKEN",
    "KEY",
    "KEYS",
    "SSH_KEY_PATH",
    "KEYCHAIN_FILE",
    "api-key",
    "tokens",
    "MONKEYTOKEN",
    "TOKENIZER_KEY",
    "KEYMAP_PASSWORD",
]
HARMLESS = [
    "PATH",
    "HOME",
    "MONKEY_ISLAND",
    "KEYBOARD_LAYOUT",
    "XKB_KEYMAP",
    "KEYTIMEOUT",
    "TOKENIZERS_PARALLELISM",
    "KEYWORDS",
    "GIT_CONFIG_KEY_0",
    "LANG",
    "CAST_ID",
    "PASSAGE",
    "TURKEY_TZ",
]


@pytest.mark.parametrize("name", SECRET)
def test_secret_names(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_names(name: str) -> None:
    assert not looks_secret(name)


def test_an_environment_without_its_secrets() -> None:
    environ = {"PATH": "/bin", "A_TOKEN": "one", "B_KEY": "two", "KEYBOARD": "de"}
    assert clean(environ, ["B_KEY", "NONE"]) == {"PATH": "/bin", "B_KEY": "two", "KEYBOARD": "de"}


def test_the_values_that_are_masked() -> None:
    environ = {
        "A_KEY": "12345678",
        "B_KEY": "1234567",
        "C_TOKEN": "x" * 20,
        "D_KEY": "12345678",
        "PATH": "/usr/bin",
    }
    assert secrets(environ) == ("x" * 20, "12345678")


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        pytest.param("a hunter2hunter2 b", "a *** b", id="text"),
        pytest.param("hunter2hunter2hunter2hunter2!", "***!", id="longest-first"),
        pytest.param("hunter", "hunter", id="none"),
        pytest.param(["hunter2hunter2", 1, None, True], ["***", 1, None, True], id="list"),
        pytest.param({"hunter2hunter2": {"a": ["-hunter2hunter2-"]}}, {"***": {"a": ["-***-"]}}, id="keys"),
        pytest.param(12345678, 12345678, id="number"),
    ],
)
def test_masked_data(value: Any, masked: Any) -> None:
    before = json.dumps(value)
    assert Mask(["hunter2hunter2hunter2hunter2", "hunter2hunter2"][::-1]).data(value) == masked
    assert json.dumps(value) == before


@pytest.mark.parametrize("secret", ['say "friend"', "line one\nline two", "schlüssel-wort", "back\\slash"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_secret_inside_json_text(secret: str, ascii_only: bool) -> None:
    text = json.dumps({"a": f"<{secret}>"}, ensure_ascii=ascii_only)
    assert json.loads(Mask([secret]).text(text)) == {"a": "<***>"}


@pytest.mark.parametrize("secret", ['say "friend"', "line one\nline two", "schlüssel-wort", "back\\slash"])
@pytest.mark.parametrize("ascii_only", [(True, True), (True, False), (False, True), (False, False)], ids=str)
def test_a_secret_inside_json_inside_json(secret: str, ascii_only: tuple[bool, bool]) -> None:
    inner = json.dumps([f"<{secret}>"], ensure_ascii=ascii_only[0])
    text = json.dumps({"a": inner}, ensure_ascii=ascii_only[1])
    assert json.loads(json.loads(Mask([secret]).text(text))["a"]) == ["<***>"]


@pytest.mark.parametrize(
    "text",
    [
        r"abc\u0026def\u003cghi\/jkl",
        r"abc\u0026def\u003Cghi/jkl",
        r"abc&def<ghi\/jkl",
    ],
)
def test_a_secret_in_the_json_of_other_encoders(text: str) -> None:
    assert Mask(["abc&def<ghi/jkl"]).text(f'"-{text}-"') == '"-***-"'


def test_any_depth() -> None:
    deep: Any = "hunter2hunter2"
    for _ in range(20_000):
        deep = [deep]
    masked = Mask(["hunter2hunter2"]).data(deep)
    while isinstance(masked, list):
        masked = masked[0]
    assert masked == "***"


def test_without_secrets_nothing_is_copied() -> None:
    value = {"a": [1]}
    assert Mask([]).data(value) is value
    assert Mask([""]).text("abc") == "abc"


def test_the_names_of_what_is_withheld() -> None:
    environ = {"PATH": "/bin", "B_KEY": "two", "A_TOKEN": "one", "C_KEY": "three"}
    assert withheld(environ, ["C_KEY"]) == ("A_TOKEN", "B_KEY")


def test_a_value_is_masked_without_the_white_space_around_it_too() -> None:
    found = secrets({"A_KEY": " hunter2hunter2\n", "B_KEY": "  seven77  "})
    assert found == (" hunter2hunter2\n", "hunter2hunter2", "  seven77  ")


SECRETS = st.text(min_size=8, max_size=40)
PARTS = st.binary(max_size=20)
CODERS: list[Callable[[bytes], bytes]] = [base64.b64encode, base64.urlsafe_b64encode]


@given(secret=SECRETS, before=PARTS, after=PARTS, coder=st.sampled_from(CODERS), padded=st.booleans())
def test_a_secret_anywhere_in_base64(
    secret: str, before: bytes, after: bytes, coder: Callable[[bytes], bytes], padded: bool
) -> None:
    raw = secret.encode("utf-8", "surrogatepass")
    text = coder(before + raw + after).decode()
    text = text if padded else text.rstrip("=")
    masked = Mask([secret]).text(text)
    assert MASK in masked
    assert len(masked.replace(MASK, "")) <= len(text) - (len(raw) * 8 // 6 - 1), "it is masked as a whole"


def lower(text: str) -> str:
    return re.sub("%..", lambda code: code[0].lower(), text)


@given(secret=SECRETS)
@example("p/a+s?s=w:o&r d%41")
@pytest.mark.parametrize(
    "spell",
    [
        pytest.param(quote, id="quote"),
        pytest.param(lambda text: quote(text, safe=""), id="quote all"),
        pytest.param(quote_plus, id="plus"),
        pytest.param(lambda text: lower(quote_plus(text)), id="small digits"),
        pytest.param(lambda text: "".join(f"%{b:02X}" for b in text.encode()), id="everything"),
        pytest.param(lambda text: "".join(f"%{b:02x}" for b in text.encode()), id="everything, small"),
        pytest.param(lambda text: text.encode().hex(), id="hex"),
        pytest.param(lambda text: text.encode().hex().upper(), id="capital hex"),
    ],
)
def test_a_secret_as_urls_and_dumps_spell_it(spell: Callable[[str], str], secret: str) -> None:
    assert Mask([secret]).text(f"a={spell(secret)}&") == "a=***&"


@pytest.mark.parametrize(
    "spell",
    [
        pytest.param(lambda core: quote(core, safe=""), id="in a URL"),
        pytest.param(lambda core: lower(quote(core)), id="in a path"),
        pytest.param(lambda core: core.replace("/", "\\/"), id="in JSON"),
    ],
)
def test_base64_inside_of_something_else(spell: Callable[[str], str]) -> None:
    secret = "a>>?b~?>??>>"  # noqa: S105 - with + and / in its base64
    text = base64.b64encode(secret.encode()).decode()
    assert "/" in text
    assert "+" in text
    assert Mask([secret]).text(f"<{spell(text)}>") == "<***>"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("hunter2", id="a part"),
        pytest.param("aHVudGV", id="a part in base64"),
        pytest.param("Hunter2hunter2", id="another case"),
        pytest.param("hunter2%20hunter2 %68%75 68756e746572", id="like it"),
    ],
)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert Mask(["hunter2hunter2"]).text(text) == text


def test_a_short_secret_has_no_short_base64() -> None:
    assert Mask(["abcdef"]).text("YWJjZGVm YWJjZGV") == "*** YWJjZGV"
    assert Mask(["abcd"]).text("YWJjZA YWJjZ") == "YWJjZA YWJjZ"


@pytest.mark.parametrize(
    ("text", "sides", "masked"),
    [
        pytest.param("the key: hunter2hun", "end", "the key: ***", id="end"),
        pytest.param("the key: hunter2hun", "start", "the key: hunter2hun", id="end that was not cut"),
        pytest.param("er2hunter2 is it", "start", "*** is it", id="start"),
        pytest.param("er2hunter2 is it", "end", "er2hunter2 is it", id="start that was not cut"),
        pytest.param("unter2-hunter2-hunter", "start end", "***-hunter2-***", id="both"),
        pytest.param("the key: hunte", "end", "the key: hunte", id="too little"),
        pytest.param("hunter2hunter2", "end", "***", id="whole"),
        pytest.param("x aHVudGVyMm", "end", "x ***", id="base64"),
        pytest.param("VyMmh1bnRlcjI=", "start", "***I=", id="base64 at the start"),
        pytest.param("%68%75%6e%7", "end", "***", id="quoted"),
        pytest.param("hunter2hunter2 and hunter", "end", "*** and ***", id="two"),
        pytest.param("", "start end", "", id="nothing"),
    ],
)
def test_a_text_that_was_cut_in_the_middle_of_a_secret(text: str, sides: str, masked: str) -> None:
    mask = Mask(["hunter2hunter2"])
    assert mask.cut(text, start="start" in sides, end="end" in sides) == masked


@pytest.mark.parametrize("length", range(6, 16))
def test_the_longest_beginning_counts(length: int) -> None:
    mask = Mask(["abcabcabcabcabc", "abcabcab"])
    assert mask.cut(f"- {'abcabcabcabcabc'[:length]}", start=False, end=True) == "- ***"
    assert mask.cut(f"{'abcabcabcabcabc'[-length:]} -", start=True, end=False) == "*** -"


def test_a_long_text_without_secrets_is_quick() -> None:
    draw = random.Random(1)  # noqa: S311 - for a test
    mask = Mask(draw.randbytes(30).hex() for _ in range(10))
    text = " ".join(f"{draw.getrandbits(40):x}%\\" for _ in range(200_000))
    began = time.monotonic()
    assert mask.text(text) == text
    assert time.monotonic() - began < 2, "a tenth of it is usual"


@pytest.mark.parametrize("before", range(0, 80, 3))
@pytest.mark.parametrize(
    "spelt", [str, json.dumps, lambda text: text.replace("\n", "\n  ")], ids=["", "json", "indent"]
)
def test_base64_in_lines(before: int, spelt: Callable[[str], str]) -> None:
    secret = "abcDEF0123456789-abcDEF0123456789/abcDEF0123"  # noqa: S105 - no password of anything
    text = base64.encodebytes(b"x" * before + secret.encode() + b"y" * 40 + secret.encode()).decode()
    left = re.sub(r"\\n|\s", "", Mask([secret]).text(spelt(text)))
    for shift in range(3):
        core = base64.b64encode(bytes(shift) + secret.encode())[4:-4].decode()
        assert not any(core[at : at + 12] in left for at in range(len(core) - 12))


@pytest.mark.parametrize(
    "text", ["x" * 500_000 + "\n", "\n" + f"{'y' * 40} " * 20_000, f"{'z' * 40}\n" * 20_000]
)
def test_long_lines_without_a_secret_are_quick(text: str) -> None:
    mask = Mask(["abcDEF0123456789"])
    began = time.monotonic()
    assert mask.text(text) == text
    assert time.monotonic() - began < 2, "a hundredth of it is usual"


def test_lines_without_a_secret_stay() -> None:
    text = base64.encodebytes(bytes(range(256)) * 4).decode()
    assert Mask(["abcDEF0123456789"]).text(text) == text


@pytest.mark.parametrize("secret", ['a"b\\c\\d-9876', "it's\\here\n", "plain-secret"])
def test_as_python_shows_it(secret: str) -> None:
    shown = Mask([secret]).text(repr([secret, f"x{secret}"]))
    assert shown in ("['***', 'x***']", '["***", "x***"]')
