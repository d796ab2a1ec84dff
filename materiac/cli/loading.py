"""Reading what a command is given: files, the layers below them, compiled machines."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from materiac.cli.importing import NOTHING, Opened, follow
from materiac.cli.reading import Reading
from materiac.diagnostic import Severity
from materiac.environment import unsecret
from materiac.layers import Again
from materiac.pipeline import Text, compile_all, compile_loadout, compile_whole
from materiac.report import ordered
from materiac.report import text as report
from materiac.resources import folder

if TYPE_CHECKING:
    from materiac.diagnostic import Located
    from materiac.graph import LoadoutGraph
    from materiac.pipeline import Compiled, Several
    from materiac.program import Image, Json, Materia
    from materiac.source import Language

STANDARD_INPUT = "-"
PROJECT_FILES = (".materia/loadout.json", ".materia/loadout.materia", ".pi/pi-materia.json")

_BY_NAME = Reading()


class UnreadableError(Exception):
    """A file that cannot be read; the message names it."""


class NotThereError(Exception):
    """A loadout that was run is not in a file; `known` are those that are, as they are said."""

    def __init__(self, message: str, known: str) -> None:
        super().__init__(message)
        self.known = known


@dataclass(frozen=True)
class Layers:
    """The texts of a configuration, the lowest first, and the files that they came from."""

    texts: tuple[Text, ...]

    def on_top(self, text: Text, *, allow_outside: bool = False, opened: Opened = NOTHING) -> Layers:
        """These layers with one more, and what it imports below it; a file among them moves up."""
        added = follow(text, allow_outside=allow_outside, opened=opened)
        rest = tuple(below for below in self.texts if not any(_same(below.name, new.name) for new in added))
        return Layers((*rest, *added))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(text.name for text in self.texts)


def bundled() -> tuple[Text, ...]:
    """The loadouts that ship with the package, in the order of their files."""
    files = sorted(folder("loadouts").glob("*.json"))
    return tuple(Text(f"{BUNDLED}{file.name}", file.read_bytes(), shipped=True) for file in files)


BUNDLED = "bundled:"


def below(cwd: Path, environ: Mapping[str, str], opened: Opened = NOTHING) -> Layers:
    """The layers that lie below a named file: the bundled ones, the user's, the project's."""
    project = next((cwd / name for name in PROJECT_FILES if _is_there(cwd / name, opened)), None)
    files = [file for file in (_user_file(environ), project) if file is not None and _is_there(file, opened)]
    read = (_as_opened(file, _shown(file, cwd), opened) for file in files)
    texts = (follow(text, allow_outside=False, opened=opened) for text in read)
    return Layers((*bundled(), *itertools.chain.from_iterable(texts)))


def _is_there(file: Path, opened: Opened) -> bool:
    return file.is_file() or (bool(opened) and Path(os.path.realpath(file)) in opened)


def _as_opened(file: Path, name: str, opened: Opened) -> Text:
    raw = opened.get(Path(os.path.realpath(file)))
    return read_text(name) if raw is None else Text(name, raw)


def _user_file(environ: Mapping[str, str]) -> Path | None:
    """Where the user's file would be; a relative `XDG_CONFIG_HOME` counts for nothing, as XDG wants it."""
    config = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not config.is_absolute():
        home = environ.get("HOME")
        if not home:
            return None
        config = Path(home, ".config")
    return config / "materiac" / "materia.json"


def read_text(name: str, language: Language | None = None) -> Text:
    """Read a file, or standard input for `-`. Raises `UnreadableError`."""
    if name == STANDARD_INPUT:
        return Text("<stdin>", sys.stdin.buffer.read(), language=language)
    try:
        return Text(name, Path(name).read_bytes(), language=language)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableError(f"cannot read '{name}': {why}") from error


def surroundings(opened: Opened = NOTHING) -> Layers:
    """The layers below, from where this process stands. Raises `UnreadableError`."""
    try:
        return below(Path.cwd(), os.environ, opened)
    except OSError as error:
        where = error.filename or "the working folder"
        raise UnreadableError(f"cannot read '{where}': {error.strerror}") from error


@dataclass(frozen=True)
class Loaded:
    """A loadout that can be drawn and run.

    `resolved` is the merged configuration, `files` are those that it was made from, lowest first;
    `source` says how to load it again, where that is possible.
    """

    image: Image
    resolved: Json
    files: tuple[str, ...]
    source: Json | None = None


def load_or_report(
    file: str | None,
    loadout: str | Again | None,
    reading: Reading = _BY_NAME,
    *,
    tolerated: Collection[str] = (),
) -> Loaded | None:
    """Load a compiled machine, or compile a loadout on top of the layers below; None after complaining.

    Without a file it is the one that `MATERIA_CONFIG` names, or the layers alone. Findings are printed, but
    for those of `tolerated` rules. Raises `NotThereError` for one that was run and shall be again.
    """
    from materiac.program import ImageError

    try:
        named = file or os.environ.get("MATERIA_CONFIG") or None
        layers = surroundings()
        text = read_text(named, reading.language) if named is not None else None
        image = _machine(text) if text is not None else None
    except (UnreadableError, ImageError) as error:
        complain(str(error))
        return None
    asked = loadout if isinstance(loadout, str) else None
    source = _source(named, asked, reading)
    if image is not None and text is not None:
        return Loaded(image, {}, (text.name,), source)
    if text is not None:
        layers = layers.on_top(text, allow_outside=reading.allow_outside)
    compiled = compile_loadout(layers.texts, loadout, tolerated=tolerated)
    if isinstance(loadout, Again):
        _find_again(loadout, compiled, f"'{named}'" if named else "the configuration")
    _tell(compiled.findings, Severity.WARNING)
    if compiled.image is None:
        return None
    id_ = compiled.resolved["loadouts"][compiled.image.program.name].get("id")
    return Loaded(compiled.image, compiled.resolved, layers.names, {**source, "loadoutId": id_})


def _find_again(was: Again, compiled: Compiled, where: str) -> None:
    faults = [part.finding for part in compiled.findings if part.finding.at == ()]
    gone = next((fault for fault in faults if fault.rule == "unknown-loadout"), None)
    if gone is not None:
        raise NotThereError(f"loadout '{was.name}' is not in {where}", str(gone.help or "none"))


@dataclass(frozen=True)
class Offer:
    """The loadouts of a file by name, in written order; a machine has one, and no graph of it.

    Of a whole file, `casts` are the loadouts as casts know them, `again` those in which casts of another file
    go on, `active` is what runs where nothing is asked for, and `materia` are all that it has.
    """

    images: Mapping[str, Image]
    graphs: Mapping[str, LoadoutGraph]
    is_machine: bool = False
    casts: tuple[Again, ...] = ()
    again: Mapping[str, str] | None = None
    active: str | None = None
    materia: Mapping[str, Materia] = field(default_factory=dict)

    @property
    def is_materia(self) -> bool:
        """Whether there are materia alone."""
        return bool(self.materia) and not self.images


def whole_or_report(file: str, reading: Reading, casts: Iterable[Again] = ()) -> Offer | None:
    """What `offer_or_report` gives, with all that a file has, and where `casts` of another file go on."""
    return _offer(file, reading, lambda texts: compile_whole(texts, casts))


def offer_or_report(file: str, loadout: str | None, reading: Reading = _BY_NAME) -> Offer | None:
    """Compile all loadouts of a file, or the one that is named; None after complaining of errors.

    None are in the null device, by which git and others say that there is no file.
    """
    return _offer(file, reading, lambda texts: compile_all(texts, loadout))


def _offer(file: str, reading: Reading, compile_: Callable[[Sequence[Text]], Several]) -> Offer | None:
    from materiac.program import ImageError

    if file == os.devnull:
        return Offer({}, {})
    try:
        text = read_text(file, reading.language)
        image = _machine(text)
        layers = surroundings()
    except (UnreadableError, ImageError) as error:
        complain(str(error))
        return None
    if image is not None:
        return Offer({image.program.name: image}, {}, is_machine=True)
    layers = layers.on_top(text, allow_outside=reading.allow_outside)
    compiled = compile_(layers.texts)
    if _tell(compiled.findings, Severity.ERROR):
        return None
    casts = tuple(Again(name, compiled.named.get(name)) for name in compiled.images)
    return Offer(
        compiled.images,
        compiled.graphs,
        casts=casts,
        again=compiled.again,
        active=compiled.active,
        materia=compiled.materia,
    )


def _tell(findings: Iterable[Located], least: Severity) -> bool:
    """Print findings of a severity, or worse; says whether there are any."""
    told = [part for part in ordered(findings) if part.finding.severity >= least]
    if told:
        print(report.render(told, colour=sys.stderr.isatty()), end="", file=sys.stderr)
    return bool(told)


def _source(named: str | None, loadout: str | None, reading: Reading) -> Json:
    """How `load_again` finds what was loaded."""
    return {
        "folder": str(Path.cwd()),
        "file": named,
        "loadout": loadout,
        "language": reading.language,
        "allowOutside": reading.allow_outside,
    }


def again(name: str, source: Mapping[str, Any] | None) -> Again:
    """The loadout that a cast had last, to be found again, by what it recorded when it began."""
    source = source or {}
    return Again(name, source.get("loadoutId"), shipped=source.get("loadout") is not None)


def load_again(name: str, source: Mapping[str, Any]) -> Loaded | None:
    """Load the loadout that a cast had last from where it began; None after complaining.

    Raises `UnreadableError` where that is not there any more, `NotThereError` where the loadout is not in it.
    """
    folder, named = Path(source["folder"]), source["file"]
    if named == STANDARD_INPUT:
        raise UnreadableError("the loadout came through standard input")
    if not folder.is_dir() or (named is not None and not (folder / named).exists()):
        raise UnreadableError(f"'{folder / (named or '')}' is gone")
    with contextlib.chdir(folder):
        reading = Reading(source["language"], source["allowOutside"])
        return load_or_report(named, again(name, source), reading)


def image_or_report(file: str, loadout: str | Again | None, reading: Reading = _BY_NAME) -> Image | None:
    """The image of `load_or_report`."""
    loaded = load_or_report(file, loadout, reading)
    return loaded.image if loaded is not None else None


def _machine(text: Text) -> Image | None:
    """The image in a text, if the text is a compiled machine. Raises `ImageError`."""
    from materiac.program import ImageError, image_from_data

    if b'"format"' not in text.raw or b'"program"' not in text.raw:
        return None
    try:
        data = json.loads(text.raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not data.keys() >= {"format", "program"}:
        return None
    try:
        return image_from_data(data)
    except ImageError as error:
        raise ImageError(f"'{text.name}' cannot be used: {error}") from error


def complain(message: str) -> None:
    """Print what is wrong with a call, without the secrets that it may have been given."""
    with contextlib.suppress(OSError):  # nobody reads it
        print(f"materiac: {unsecret(message)}", file=sys.stderr)


def _shown(file: Path, cwd: Path) -> str:
    return str(file.relative_to(cwd) if file.is_relative_to(cwd) else file)


def _same(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return False


def write_output(file: str | None, content: bytes, *, made_from: str | None = None) -> int:
    """Write a whole file, or to standard output where there is none; gives the exit code.

    The file that the content was `made_from` is never written over.
    """
    if file is not None and made_from is not None and _same(file, made_from):
        complain(f"'{file}' is what this was made from, and is not written over")
        return 2
    if file is None or file == STANDARD_INPUT:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return 0
    from materiac.cli.writing import write_whole

    try:
        write_whole(Path(file), content)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        complain(f"cannot write '{file}': {why}")
        return 2
    return 0
