"""`materiac tail`: the records of a cast in words, also while it runs."""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from materiac.cli import places

if TYPE_CHECKING:
    from materiac.runtime.follow import Following
    from materiac.runtime.journal import Record

    Tell = Callable[[bytes, Record], str | None]

BROKEN = 1
_WAIT_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)
    parser.add_argument(
        "-f", "--follow", action="store_true", help="go on until the process of the cast ends"
    )
    parser.add_argument("-n", type=places.count, metavar="N", help="only the last N (default: all)")
    parser.add_argument("--json", action="store_true", help="print the records as they are, one a line")


def run(options: argparse.Namespace) -> int:
    """0 shown; 1 the journal is broken; 2 there is no such cast."""
    from materiac.cli.loading import complain
    from materiac.cli.wording import one_line
    from materiac.runtime.find import JOURNAL
    from materiac.runtime.follow import Following
    from materiac.runtime.journal import JournalError

    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    following = Following(folder / JOURNAL)
    try:
        for text in _texts(options, folder, following):
            print(text, flush=options.follow)
    except KeyboardInterrupt:
        return 0
    except JournalError as error:
        sys.stdout.flush()
        complain(one_line(str(error)))
        return BROKEN
    if not following.count:
        complain(f"'{one_line(str(folder))}' has no record yet")
    return 0


def _texts(options: argparse.Namespace, folder: Path, following: Following) -> Iterator[str]:
    tell = _line if options.json else _words(folder)

    def told(*, last: bool = False) -> Iterator[str]:
        texts = (tell(line, record) for line, record in following.more(last=last))
        return (text for text in texts if text is not None)

    if not options.follow:
        yield from _newest(told(last=True), options.n)
        return
    yield from _newest(told(), options.n)
    while following.goes_on():
        time.sleep(_WAIT_S)
        yield from told()
    yield from told(last=True)


def _newest(texts: Iterator[str], most: int | None) -> Iterator[str]:
    return texts if most is None else iter(deque(texts, most))


def _line(line: bytes, _: Record) -> str:
    """A record as it is; what a terminal could take for a command to itself is escaped there."""
    text = line.decode()
    if not sys.stdout.isatty():
        return text
    import json

    return json.dumps(json.loads(text), separators=(",", ":"))


def _words(folder: Path) -> Tell:
    from materiac.cli.telling import Telling

    telling = Telling(folder)
    return lambda _, record: telling.tell(record)
