"""What docs/ci.md shows for other programs: each file is a valid one, and its commands run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from doc_pages import PAGES, ROOT, Block, read

from materiac import __version__

PAGE: Final = read("docs/ci.md")
WORKFLOWS: Final = [
    block for page in PAGES for block in page.blocks if block.language == "yaml" and "workflow" in block.words
]
EVERY_WORKFLOW: Final = pytest.mark.parametrize("block", WORKFLOWS, ids=lambda block: block.options["file"])
OURS: Final = "OWNER/materiac"
REVISION: Final = f"v{__version__}"


def valid(folder: Path, block: Block, *words: str) -> None:
    file = folder / "shown.yaml"
    file.write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [*words, str(file)], env=environ(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def environ(home: Path) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()])
    return {**os.environ, "PATH": path, "HOME": str(home)}


def steps(block: Block) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(block.text)["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def test_all_yaml_is_of_a_kind() -> None:
    kinds = [block.words for page in PAGES for block in page.blocks if block.language == "yaml"]
    assert len(kinds) >= 4
    assert all(words in ({"workflow"}, {"hooks"}) for words in kinds)


@EVERY_WORKFLOW
def test_a_workflow_is_valid(block: Block, tmp_path: Path) -> None:
    valid(tmp_path, block, "check-jsonschema", "--builtin-schema", "vendor.github-workflows")


@EVERY_WORKFLOW
def test_the_action_has_the_inputs_that_it_is_given(block: Block) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_bytes())
    needed = {name for name, told in action["inputs"].items() if told.get("required")}
    for step in steps(block):
        if step.get("uses", "").startswith(OURS):
            assert step["uses"] == f"{OURS}@{REVISION}"
            assert needed <= set(step["with"]) <= set(action["inputs"])


@EVERY_WORKFLOW
@pytest.mark.parametrize("found", [0, 1], ids=["sound", "slip"])
def test_the_commands_of_a_workflow_run(block: Block, found: int, tmp_path: Path) -> None:
    [slip] = [part.text for part in PAGE.blocks if part.options.get("file", "").endswith(".materia")]
    (tmp_path / "loadouts").mkdir()
    file = tmp_path / "loadouts/letter.materia"
    file.write_text(slip if found else slip.replace("reviw", "review"), encoding="utf-8")
    printed = ""
    for step in steps(block):
        if "run" in step and not step["run"].startswith("pip install "):
            code, output = shell(step["run"], tmp_path)
            assert code == (found if step == steps(block)[-1] else 0), output
            printed += output
    if (sarif := tmp_path / "materiac.sarif").exists():
        printed += "error[" * len(json.loads(sarif.read_bytes())["runs"][0]["results"])
    if "materiac check" in block.text:
        assert printed.count("error[") == found


def shell(command: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder,
        env=environ(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_the_hooks_that_are_named_are_there(tmp_path: Path) -> None:
    [block] = [block for block in PAGE.blocks if "hooks" in block.words]
    valid(tmp_path, block, "pre-commit", "validate-config")
    [repository] = yaml.safe_load(block.text)["repos"]
    assert (repository["repo"], repository["rev"]) == (f"https://github.com/{OURS}", REVISION)
    there = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    assert {hook["id"] for hook in repository["hooks"]} == {hook["id"] for hook in there}


def test_the_matcher_is_the_real_one() -> None:
    name = ".github/materiac-matcher.json"
    [block] = [block for block in PAGE.blocks if block.options.get("file") == name]
    assert block.text == (ROOT / name).read_text(encoding="utf-8")
    added = [step for part in WORKFLOWS for step in steps(part) if "::add-matcher::" in str(step)]
    assert [step["run"] for step in added] == [f'echo "::add-matcher::{name}"']
