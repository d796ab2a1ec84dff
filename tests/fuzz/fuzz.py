"""Feed the readers of both languages with damaged inputs, and see that their promises hold.

    python tests/fuzz/fuzz.py [--language json|dsl] [--seconds N] [--seed N] [--failures FOLDER]
    python tests/fuzz/fuzz.py FILE …

An input that reaches lines of the package, or says things, that none has before is kept and damaged further.
What breaks a promise is written to a file, once for each place where it breaks; with files, those are read.
The exit code is 1 where there was any.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from mutations import mutated, strained, words_of
from promises import UNREADABLE, hold

import materiac
from materiac.languages import LANGUAGES
from materiac.source import Language

CORPUS = Path(__file__).parent / "corpus"
SLOWEST_S = 5
"""An input that takes longer hangs."""

KEPT_KB = 64
"""How much memory may stay behind each time that the same inputs are read."""

_PACKAGE = str(Path(materiac.__file__).parent)
_WATCHED = 4
"""Of so many inputs, the lines of one are watched: it then takes several times as long."""

_STRAINED = 0.6
"""How often a sound input is changed so that it may stay sound: much lies behind the readers."""

_QUICK_S = 0.1
"""What takes longer is not damaged further: others come to their turn then."""

_MOST = 1_000
"""So many inputs are kept in memory; then a new one takes the place of another."""

_LEAK_ROUNDS, _LEAK_INPUTS = 4, 16


def corpus(language: Language) -> list[Path]:
    """The inputs that are kept in the repository, in order."""
    return sorted(path for path in (CORPUS / language).iterdir() if path.is_file())


class HangError(Exception):
    """An input has taken too long."""


class Lines:
    """The lines of the package that have been run; a function is no longer watched once all of it has."""

    def __init__(self) -> None:
        self.seen = 0
        self._left: dict[CodeType, set[int]] = {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(None)

    def _called(self, frame: FrameType, _event: str, _: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            ours = code.co_filename.startswith(_PACKAGE)
            lines = {line for *_, line in code.co_lines() if line is not None} if ours else set()
            left = self._left[code] = lines - {code.co_firstlineno}
        return self._stepped if left else None

    def _stepped(self, frame: FrameType, event: str, _: Any) -> Any:
        left = self._left[frame.f_code]
        if event == "line" and frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self.seen += 1
        return self._stepped


@dataclass
class Session:
    """The inputs of one language that were worth keeping, and what came of all that were tried."""

    language: Language
    failures: Path
    lines: Lines = field(default_factory=Lines)
    kept: list[bytes] = field(default_factory=list)
    sound: list[bytes] = field(default_factory=list)
    shapes: set[int] = field(default_factory=set)
    broken: dict[str, Path] = field(default_factory=dict)
    tried: int = 0
    slowest: tuple[float, bytes] = (0.0, b"")

    def attempt(self, raw: bytes) -> None:
        """Try an input; keep it where it showed something new."""
        self.tried += 1
        before, started = self.lines.seen, time.process_time()
        try:
            with self.lines.watched() if self.tried % _WATCHED == 1 else nullcontext(), alarm():
                shapes = hold(raw, self.language)
        except Exception as error:  # noqa: BLE001 - whatever it is, it should not have been raised
            self._fail(raw, error)
            return
        took = time.process_time() - started
        self.slowest = max(self.slowest, (took, raw))
        new = self.lines.seen > before or hash(shapes) not in self.shapes
        self.shapes.add(hash(shapes))
        if new and took < _QUICK_S:
            self._keep(raw, self.kept)
            if not UNREADABLE & {rule for rule, _ in shapes}:
                self._keep(raw, self.sound)

    def _keep(self, raw: bytes, kept: list[bytes]) -> None:
        if len(kept) < _MOST:
            kept.append(raw)
        else:
            kept[self.tried % _MOST] = raw

    def _fail(self, raw: bytes, error: Exception) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        where = " < ".join(f"{Path(at.filename).name}:{at.lineno}" for at in reversed(frames[-4:]))
        place = f"{type(error).__name__} at {where}"
        if place in self.broken:
            return
        self.failures.mkdir(parents=True, exist_ok=True)
        file = self.failures / f"{self.language}-{hashlib.sha256(raw).hexdigest()[:12]}"
        file.write_bytes(raw)
        self.broken[place] = file
        print(f"{place}: {str(error)[:300]}\n  written to {file}", flush=True)


@contextmanager
def alarm() -> Iterator[None]:
    """Raise `HangError` where the body takes too much time of the processor."""
    signal.setitimer(signal.ITIMER_PROF, SLOWEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _rang(_number: int, _frame: FrameType | None) -> None:
    raise HangError(f"took longer than {SLOWEST_S} s")


def main() -> int:
    """Read files, or damaged inputs for some time; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description="feed the readers with damaged inputs")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="read these and no others")
    parser.add_argument("--language", choices=LANGUAGES, help="one language alone (default: both)")
    parser.add_argument("--seconds", type=float, default=60, help="for each language (default: 60)")
    parser.add_argument("--seed", type=int, help="of the damage (default: another one each time)")
    failures = Path(tempfile.gettempdir()) / "materiac-fuzz"
    parser.add_argument("--failures", type=Path, default=failures, help=f"(default: {failures})")
    options = parser.parse_args()
    options.failures, options.files = options.failures.resolve(), [file.resolve() for file in options.files]
    signal.signal(signal.SIGPROF, _rang)
    languages = [options.language] if options.language else LANGUAGES
    with tempfile.TemporaryDirectory(prefix="fuzz-") as empty:
        os.chdir(empty)  # where imports of the inputs lead
        sound = [session(language, options) for language in languages]
        os.chdir("/")
    return 0 if all(sound) else 1


def session(language: Language, options: argparse.Namespace) -> bool:
    """Try inputs of a language and print what came of it; whether all promises held."""
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    here, started = Session(language, options.failures), time.process_time()
    for file in options.files or corpus(language):
        here.attempt(file.read_bytes())
    read, memory = here.tried, resident()
    if not options.files:
        damage(here, random.Random(seed), options.seconds)  # noqa: S311 - nothing is kept secret
    grown = leaked(here.kept[:_LEAK_INPUTS], language)
    took, slow = here.slowest
    rate = here.tried / (time.process_time() - started)
    print(f"{language}: {here.tried} inputs, {read} of them files, {rate:.0f} in a second; seed {seed}")
    print(f"  {here.lines.seen} lines reached, {len(here.shapes)} sets of findings")
    print(f"  slowest {took * 1000:.0f} ms: {slow[:60]!r} ({len(slow)} bytes)")
    print(f"  memory {memory} MB at first, {resident()} MB at the end; {grown} KB stay behind each time")
    print(f"  {len(here.broken)} broken promises", flush=True)
    return not here.broken and grown <= KEPT_KB


def damage(here: Session, chance: random.Random, seconds: float) -> None:
    """Try damaged inputs until the time is over."""
    words = words_of(here.kept)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if chance.random() < _STRAINED:
            here.attempt(strained(chance.choice(here.sound), chance, words))
        else:
            here.attempt(mutated(chance.choice(here.kept), chance, words, here.kept))


def leaked(inputs: list[bytes], language: Language) -> int:
    """The kilobytes that stay behind each time that inputs are read which were read before."""
    tracemalloc.start()
    sizes = []
    for _ in range(_LEAK_ROUNDS):
        for raw in inputs:
            hold(raw, language)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    # A table that grows now and then is no leak: each time has to leave something behind.
    return max(0, min(after - before for before, after in pairwise(sizes))) // 1024


def resident() -> int:
    """The most memory that the process has had, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.exit(main())
