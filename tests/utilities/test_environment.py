"""Which variables are secrets, and that they are left out and masked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from materiac.utilities.environment import Mask, clean, looks_secret, secrets

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
