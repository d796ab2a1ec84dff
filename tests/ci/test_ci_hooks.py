"""The hooks for pre-commit: which files they are for, and that they run in a repository that uses them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import checkout
import pytest
import yaml

HOOKS: list[dict[str, Any]] = yaml.safe_load((checkout.ROOT / ".pre-commit-hooks.yaml").read_bytes())
CHECKED, LAID_OUT = "materiac-check", "materiac-fmt"
SOUND = 'loadout L {\n  entry a\n\n  a: Agent\n}\n\nmateria Agent { prompt "Do: {{request}}" }\n'


def hooks_for(file: str) -> set[str]:
    return {
        hook["id"]
        for hook in HOOKS
        if re.search(hook["files"], file) and not re.search(hook.get("exclude", "^$"), file)
    }


@pytest.mark.parametrize(
    ("file", "hooks"),
    [
        *(
            (file, {CHECKED, LAID_OUT})
            for file in (
                "a.materia",
                "a/b.materia",
                "a.loadout.json",
                "loadouts/a.json",
                "a/loadouts/b.json",
                ".materia/loadout.json",
                "a/.pi/pi-materia.json",
            )
        ),
        *((file, {CHECKED}) for file in ("a.scenario.json", "loadouts/scenarios/a.scenario.json")),
        *(
            (file, set())
            for file in (
                "package.json",
                "loadout.json",
                "a.materia.txt",
                "loadouts/scripts/a.agent.json",
                "my-loadouts/a.json",
            )
        ),
    ],
)
def test_which_files_the_hooks_are_for(file: str, hooks: set[str]) -> None:
    assert hooks_for(file) == hooks


def test_the_manifest_is_valid() -> None:
    words = ["pre-commit", "validate-manifest", str(checkout.ROOT / ".pre-commit-hooks.yaml")]
    subprocess.run(words, env=checkout.environ(Path("/nowhere")), check=True)


class User:
    """A repository that uses the hooks, and the folder that pre-commit installs them in."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.folder = folder / "user"
        source = checkout.copy(folder / "materiac")
        self.git("init", "-q", str(self.folder), at=folder)
        revision = self.git("rev-parse", "HEAD", at=source).strip()
        hooks = [{"id": hook["id"]} for hook in HOOKS]
        config = {"repos": [{"repo": str(source), "rev": revision, "hooks": hooks}]}
        (self.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")

    def git(self, *words: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=at or self.folder,
            env=self._environ(),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def hooks_on(self, **files: str) -> tuple[int, str]:
        """Write and stage files of the DSL, and give what pre-commit comes to, and what it says."""
        for name, text in files.items():
            (self.folder / f"{name}.materia").write_text(text, encoding="utf-8")
        self.git("add", "--all")
        done = subprocess.run(
            ["pre-commit", "run", "--color", "never"],
            cwd=self.folder,
            env=self._environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def _environ(self) -> dict[str, str]:
        return dict(checkout.environ(self.home, PRE_COMMIT_HOME=str(self.home / "pre-commit")))


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    return User(tmp_path_factory.mktemp("hooks"))


def said(output: str) -> dict[str, str]:
    """How each hook came out."""
    return dict(re.findall(r"^([a-z ]+?)\.{3,}(?:\(.*\))?(\w+)$", output, re.MULTILINE))


@pytest.mark.slow
def test_the_hooks_run_where_they_are_used(user: User) -> None:
    code, output = user.hooks_on(sound=SOUND)
    assert (code, said(output)) == (0, {"check loadouts": "Passed", "lay out loadouts": "Passed"}), output

    code, output = user.hooks_on(broken=SOUND.replace("entry a", "entry b"))
    assert (code, said(output)) == (1, {"check loadouts": "Failed", "lay out loadouts": "Passed"}), output
    assert "broken.materia:2:9: " in output

    crooked = SOUND.replace("  a: Agent", "a:   Agent")
    code, output = user.hooks_on(broken=SOUND, crooked=crooked)
    assert (code, said(output)) == (1, {"check loadouts": "Passed", "lay out loadouts": "Failed"}), output
    assert (user.folder / "crooked.materia").read_text(encoding="utf-8") == SOUND

    code, output = user.hooks_on()
    assert code == 0, output
