"""The tables of the grammar: they are kept, made again when that fails, and say what the printer thinks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from materiac import dsl_text
from materiac.dsl_tree import BLOCK, STRING, WORD
from materiac.resources import folder

READ = "from materiac import dsl_text; tree, _ = dsl_text.parse('loadout L { a: A }'); print(tree.data)"


def reads(home: Path, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", READ],
        env={"PATH": os.environ["PATH"], "HOME": str(home), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def tables(cache: Path) -> list[Path]:
    return [path for path in cache.glob("materiac/grammar-*") if not path.suffix]


def test_tables_are_kept_and_survive_damage(tmp_path: Path) -> None:
    assert reads(tmp_path) == "start"
    kept = tables(tmp_path / ".cache")
    assert len(kept) == 1
    whole = kept[0].read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"\x80" + whole, whole.replace(b"LBRACE", b"LBRA\x00E")):
        kept[0].write_bytes(damaged)
        assert reads(tmp_path) == "start"


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({"XDG_CACHE_HOME": "/dev/null/none"}, id="no folder can be made"),
        pytest.param({"XDG_CACHE_HOME": "relative"}, id="relative"),
        pytest.param({"HOME": "/dev/null"}, id="no home"),
        pytest.param({"HOME": ""}, id="empty home"),
    ],
)
def test_it_does_without(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = environ.pop("HOME", str(tmp_path / "home"))
    assert reads(Path(home) if home else Path(), **environ) == "start"
    assert not (tmp_path / "relative").exists()


def test_the_printer_knows_the_words_of_the_grammar() -> None:
    grammar = (folder("grammar") / "materia.lark").read_text(encoding="utf-8")
    terminals = dict(re.findall(r"^([A-Z_]+)(?:\.-?\d+)?: /(.*)/$", grammar, re.MULTILINE))
    assert terminals["WORD"] == WORD.pattern
    assert terminals["BLOCK"] == BLOCK
    assert terminals["STRING"] == STRING.replace('"', '"(?!"")', 1)


@pytest.mark.parametrize("word", ["a", "a-b", "-x", "5", "a.b", "日本", "कि", "true"])
def test_a_word_is_a_name(word: str) -> None:
    tree, findings = dsl_text.parse(f"loadout {word} {{ x: {word} -> {word} loop {word} ({word}) }}")
    assert tree is not None, findings
    assert WORD.fullmatch(word)
