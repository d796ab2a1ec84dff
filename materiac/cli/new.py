"""`materiac new`: begin a loadout from a template, with a scenario beside it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TEMPLATES: Final = ("hello", "review-loop", "plan-build-check", "parallel")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("template", nargs="?", metavar="TEMPLATE", help="which template (default: list them)")
    parser.add_argument("-o", "--output", metavar="FOLDER", default=".", help="where to (default: here)")
    parser.add_argument(
        "--name", metavar="NAME", help="what the loadout is called (default: as the template)"
    )
    parser.add_argument(
        "--language", choices=("json", "dsl"), default="json", help="what to write it in (default: json)"
    )


def run(options: argparse.Namespace) -> int:
    """0: written, or listed; 2: no such template, no such name, or a file is there already."""
    from materiac.cli import loading
    from materiac.names import fault, suggestion

    if options.template is None:
        return _list()
    if options.template not in TEMPLATES:
        guess = suggestion(options.template, TEMPLATES) or f"there are {', '.join(map(repr, TEMPLATES))}"
        loading.complain(f"there is no template '{options.template}': {guess}")
        return 2
    wrong = None if options.name is None else fault(options.name, spaces=True)
    if wrong is not None:
        loading.complain(f"the name {wrong}")
        return 2
    return _write(Path(options.output), _files(options.template, options.name, options.language))


def _list() -> int:
    width = max(map(len, TEMPLATES))
    for template in TEMPLATES:
        data = json.loads(_text(f"{template}.json"))
        [loadout] = data["loadouts"].values()
        print(f"{template:<{width}}  {loadout['description']}")
    return 0


def _text(file: str) -> str:
    from materiac.resources import folder

    return (folder("loadouts") / "templates" / file).read_text(encoding="utf-8")


def _files(template: str, name: str | None, language: str) -> dict[str, str]:
    """The texts of the new files, by their names; both are laid out as the template is."""
    ending = "materia" if language == "dsl" else "json"
    loadout, scenario = _text(f"{template}.{ending}"), _text(f"{template}.scenario.json")
    stem = template if name is None else name.replace(" ", "-")
    if name is not None:
        [called] = json.loads(_text(f"{template}.json"))["loadouts"]
        quoted = json.dumps(name, ensure_ascii=False)
        loadout = loadout.replace(f"loadout {called} {{", f"loadout {quoted} {{", 1)
        loadout = loadout.replace(f"{json.dumps(called)}: {{", f"{quoted}: {{", 1)
    file = json.dumps(f"{stem}.{ending}", ensure_ascii=False)
    scenario = scenario.replace(json.dumps(f"{template}.json"), file)
    return {f"{stem}.{ending}": loadout, f"{stem}.scenario.json": scenario}


def _write(folder: Path, files: Mapping[str, str]) -> int:
    from materiac.cli import loading

    present = [name for name in files if (folder / name).exists() or (folder / name).is_symlink()]
    if present:
        loading.complain(f"'{folder / present[0]}' is there already: remove it, or choose a --name")
        return 2
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        loading.complain(f"cannot write '{error.filename or folder}': {error.strerror}")
        return 2
    for name in files:
        print(folder / name)
    return 0
