"""Large files: they hold up neither who types in them nor other files."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from talk import Talk, talking

from materiac import formatting
from materiac.source import Language

SMALL = 'loadout W {\n  entry a\n  a: B -> b\n  b: B -> end\n}\nmateria B { prompt "x" }\n'

pytestmark = pytest.mark.slow


def big(sockets: int) -> str:
    made = {
        f"s{i}": {
            "materia": "A",
            "parse": "json",
            "edges": [
                {"when": "satisfied", "to": f"s{i + 1}" if i + 1 < sockets else "end"},
                {"when": "not_satisfied", "to": f"s{max(0, i - 1)}", "maxTraversals": 2},
            ],
        }
        for i in range(sockets)
    }
    loadout = {"entry": "s0", "sockets": made}
    return json.dumps({"loadouts": {"L": loadout}, "materia": {"A": {"prompt": "x"}}}, indent=1)


def test_a_file_of_10_000_sockets_does_not_hold_up_typing(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    text = big(10_000)
    with talking(tmp_path / "work") as talk:
        uri = talk.open("big.json", text)
        place = {"line": 0, "character": 0}
        times = []
        for version in range(2, 12):
            talk.change(uri, version, {"range": {"start": place, "end": place}, "text": " "})
            start = time.monotonic()
            assert talk.ask("workspace/symbol", {"query": ""})["code"] == -32601
            times.append(time.monotonic() - start)
        talk.findings(uri, 11)
        line = text[: text.index('"to": "s5000"')].count("\n")
        start = time.monotonic()
        found = talk.at("completion", uri, line, 14)["items"]
        times.append(time.monotonic() - start)
        assert len(found) > 100
        assert max(times) < 5, times


def ask_beside(talk: Talk, method: str, uri: str) -> None:
    """Ask, and do not wait for the answer."""
    params = {"textDocument": {"uri": uri}, "position": {"line": 5, "character": 8}}
    talk.send({"id": f"beside {time.monotonic()}", "method": method, "params": params})


@pytest.mark.parametrize("language", ["json", "dsl"])
def test_a_file_of_10_000_sockets_holds_up_no_other(tmp_path: Path, language: Language) -> None:
    (tmp_path / "work").mkdir()
    text = formatting.converted(json.loads(big(10_000)), language)
    with talking(tmp_path / "work") as talk:
        small = talk.open("small.materia", SMALL)
        talk.findings(small, 1)
        large = talk.open("big.json" if language == "json" else "big.materia", text)
        for _ in range(6):
            ask_beside(talk, "textDocument/hover", large)
        times = []
        for _ in range(30):
            start = time.monotonic()
            assert talk.at("hover", small, 2, 2)["contents"]["value"].startswith("socket **a**")
            times.append(time.monotonic() - start)
        assert sorted(times)[len(times) // 2] < 1, times
        talk.change(small, 2, {"text": SMALL.replace("end", "ende")})
        assert [part["code"] for part in talk.findings(small, 2)] == ["unknown-target"]
