"""How each program is pointed at fake models, with a home of its own and nothing that is the user's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from fake_models import FakeModels

from agent_programs.install import BIN

KEY: Final = "fake-key-0123456789"
"""What every program sends as its API key."""

_SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_COST: Final = {"input": 1.0, "output": 2.0, "cacheRead": 0.1, "cacheWrite": 1.25}
_PI_APIS: Final = {
    "fake": "openai-completions",
    "fake-responses": "openai-responses",
    "fake-messages": "anthropic-messages",
}


def aim(name: str, fake: FakeModels, home: Path) -> dict[str, str]:
    """The whole environment in which a program knows no other models; its files are written into `home`.

    The models are `fake-1`, and `fake-2`, which can think. Pi has them of three providers: `fake`, the
    default, `fake-responses` and `fake-messages`.
    """
    home.mkdir(parents=True, exist_ok=True)
    environ = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": f"{BIN}:{_SYSTEM_PATH}",
        "TERM": "dumb",
        "SHELL": "/bin/bash",
    }
    return environ | _AIMS[name](fake, home)


def _pi(fake: FakeModels, home: Path) -> dict[str, str]:
    folder = home / "pi"
    models = [
        {"id": name, "contextWindow": 64000, "maxTokens": 4000, "cost": _COST, "reasoning": name == "fake-2"}
        for name in ("fake-1", "fake-2")
    ]
    providers = {
        name: {
            "baseUrl": fake.url if api == "anthropic-messages" else fake.v1,
            "api": api,
            "apiKey": "$FAKE_KEY",
            "models": models,
        }
        for name, api in _PI_APIS.items()
    }
    settings = {
        "defaultProvider": "fake",
        "defaultModel": "fake-1",
        "retry": {"enabled": True, "maxRetries": 1, "baseDelayMs": 100},
        "quietStartup": True,
    }
    _write(folder / "models.json", {"providers": providers})
    _write(folder / "settings.json", settings)
    offline = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
    return {"PI_CODING_AGENT_DIR": str(folder), "FAKE_KEY": KEY, **offline}


def _codex(fake: FakeModels, home: Path) -> dict[str, str]:
    folder = home / "codex"
    folder.mkdir(exist_ok=True)
    config = f"""\
model = "fake-1"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = "{fake.v1}"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1
"""
    (folder / "config.toml").write_text(config, encoding="utf-8")
    return {"CODEX_HOME": str(folder), "FAKE_KEY": KEY}


def _claude(fake: FakeModels, home: Path) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": fake.url,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_MODEL": "fake-1",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "fake-2",
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _opencode(fake: FakeModels, home: Path) -> dict[str, str]:
    limit = {"context": 64000, "output": 4000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": fake.v1, "apiKey": "{env:FAKE_KEY}"},
        "models": {name: {"name": name, "limit": limit} for name in ("fake-1", "fake-2")},
    }
    config = {
        "model": "fake/fake-1",
        "small_model": "fake/fake-2",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"fake": provider},
    }
    _write(home / "opencode.json", config)
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE", "EXTERNAL_SKILLS")
    disabled = {f"OPENCODE_DISABLE_{name}": "1" for name in off}
    return {
        "OPENCODE_CONFIG": str(home / "opencode.json"),
        "OPENCODE_PURE": "1",
        "FAKE_KEY": KEY,
        **disabled,
    }


def _gemini(fake: FakeModels, home: Path) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    }
    _write(home / ".gemini" / "settings.json", settings)
    return {"GOOGLE_GEMINI_BASE_URL": fake.url, "GEMINI_API_KEY": KEY, "GEMINI_MODEL": "fake-1"}


def _qwen(fake: FakeModels, home: Path) -> dict[str, str]:
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        # Else it asks the model once more behind a turn, with tools that write.
        "memory": {
            "enableManagedAutoMemory": False,
            "enableManagedAutoDream": False,
            "enableAutoSkill": False,
        },
    }
    _write(home / ".qwen" / "settings.json", settings)
    return {"OPENAI_BASE_URL": fake.v1, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "fake-1"}


def _write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")


_AIMS: Final[dict[str, Callable[[FakeModels, Path], dict[str, str]]]] = {
    "pi": _pi,
    "pi-0.83": _pi,
    "codex": _codex,
    "claude": _claude,
    "opencode": _opencode,
    "gemini": _gemini,
    "qwen": _qwen,
}
