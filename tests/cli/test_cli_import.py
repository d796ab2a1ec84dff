"""`materiac import`: what is written, what is said, which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import FEATURES, loadout, socket

from materiac.cli import main


@pytest.fixture(name="old")
def _old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return tmp_path / "old.json"


def test_early_forms_are_rewritten(old: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old.write_text(json.dumps(FEATURES["words"] | {"webui": {"port": 1}}), encoding="utf-8")
    assert main(["import", str(old), "-o", "new.json"]) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert "'webui' means nothing here" in err
    assert "materiac: 4 early forms rewritten\n" in err
    assert main(["check", "--strict", "new.json"]) == 0
    data = json.loads(Path("new.json").read_text(encoding="utf-8"))
    assert data["materia"]["a"] == {"prompt": "Work.\n\nMore.", "label": "a"}


def test_what_is_of_today_is_written_as_it_is(old: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = loadout({"a": socket()})
    old.write_text(json.dumps(config), encoding="utf-8")
    assert main(["import", str(old)]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out) == config
    assert err == "materiac: 0 early forms rewritten\n"


def test_what_has_no_counterpart_is_named(old: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gone = {"kind": "shippedUtility", "name": "mime-gh-pr.mjs"}
    old.write_text(json.dumps(loadout({"a": {"materia": "PR"}}, materia={"PR": {"script": gone}})))
    assert main(["import", str(old)]) == 0
    assert "unknown-utility" in capfd.readouterr().err


def test_errors_that_are_left_give_1(old: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old.write_text(json.dumps(loadout({"a": socket(edges=[{"to": "nowhere"}])})), encoding="utf-8")
    assert main(["import", str(old), "-o", "new.json"]) == 1
    assert "error[unknown-target]" in capfd.readouterr().err
    assert Path("new.json").exists()


@pytest.mark.parametrize("text", [None, "{"])
def test_what_cannot_be_read_gives_2(text: str | None, old: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if text is not None:
        old.write_text(text, encoding="utf-8")
    assert main(["import", str(old), "-o", "new.json"]) == 2
    assert capfd.readouterr().err
    assert not Path("new.json").exists()
