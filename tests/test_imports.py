"""What start-up loads: the price of a command is that of its imports. No clock is needed to see it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("pydantic", "networkx", "lark", "transitions", "graphviz", "rich", "wcwidth", "pygls", "lsprotocol")
SHIPPED = sorted((Path(__file__).parent.parent / "loadouts").glob("*.json"))


def loaded(code: str) -> set[str]:
    """The modules that a Python has loaded after running some code in a process of its own."""
    report = "import json, sys; print('\\n' + json.dumps(list(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"import atexit; atexit.register(lambda: exec({report!r}))\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    modules: list[str] = json.loads(done.stderr.splitlines()[-1])
    return set(modules)


def command(*words: str) -> str:
    return f"import sys; from materiac.cli import main; sys.exit(main({list(words)!r}))"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import materiac", id="import"),
        pytest.param(command("--help"), id="help"),
        pytest.param(command("--version"), id="version"),
        pytest.param(command("check", "--help"), id="check help"),
        pytest.param(command("run", "--help"), id="run help"),
        pytest.param(command("render", "--help"), id="render help"),
        pytest.param(command("compile", "--help"), id="compile help"),
        pytest.param(command("lsp", "--help"), id="lsp help"),
        pytest.param(command("nope"), id="wrong usage"),
        pytest.param(command("utility", "--list"), id="utility"),
    ],
)
def test_nothing_heavy(code: str) -> None:
    assert loaded(code).isdisjoint(HEAVY)


def test_check_loads_what_it_needs() -> None:
    modules = loaded(command("check", *map(str, SHIPPED)))
    assert "materiac.pipeline" in modules
    assert "pydantic" in modules
    assert modules.isdisjoint(set(HEAVY) - {"pydantic"})
    assert not [name for name in modules if name.startswith(("materiac.runtime", "materiac.agents"))]
    assert "materiac.machine" not in modules
    assert modules.isdisjoint({"asyncio", "http", "ssl", "sqlite3", "multiprocessing", "ctypes"})


def test_compile_draws_and_runs_nothing() -> None:
    modules = loaded(command("compile", str(SHIPPED[0])))
    assert modules.isdisjoint({"networkx", "lark", "transitions", "graphviz", "rich", "wcwidth"})


def test_import_alone_loads_one_module() -> None:
    assert {name for name in loaded("import materiac") if name.startswith("materiac")} == {"materiac"}
