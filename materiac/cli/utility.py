"""`materiac utility`: call a built-in utility, by hand or as the process that a cast starts."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from materiac.names import suggestion
from materiac.utilities.builtins import registry
from materiac.utilities.builtins.call import UtilityError, kind

FAILED = 1
USAGE_ERROR = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command line takes."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the built-in; it reads its call from stdin")
    parser.add_argument("--list", action="store_true", help="list the built-ins, as without NAME")


def run(options: argparse.Namespace) -> int:
    """Call one built-in, or list all."""
    if options.list or options.name is None:
        for builtin in registry.values():
            print(f"{builtin.name:<23}{builtin.summary}")
        return 0
    if options.name not in registry:
        return _say(_unknown(options.name, list(registry)), USAGE_ERROR)
    try:
        call = _read(sys.stdin.buffer.read())
    except ValueError as error:
        return _say(f"stdin: {error}", USAGE_ERROR)
    return _call(options.name, call)


def _call(name: str, call: dict[str, Any]) -> int:
    try:
        result = registry[name].run(call)
    except UtilityError as error:
        return _say(f"{name}: {error}", FAILED)
    sys.stdout.buffer.write(json.dumps(result, ensure_ascii=False).encode() + b"\n")
    return 0


def _unknown(name: str, known: list[str]) -> str:
    near = suggestion(name, known)
    return f"no built-in is called '{name}'{f', {near}' if near else ''}"


def _read(data: bytes) -> dict[str, Any]:
    """The call, sound enough to be written again. Raises `ValueError` with the reason."""
    try:
        call = json.loads(data.decode("utf-8-sig"))
        json.dumps(call, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeDecodeError:
        raise ValueError("the bytes are not UTF-8") from None
    except UnicodeEncodeError:
        raise ValueError("a text has a lone surrogate in it") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error}, expected one object") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not isinstance(call, dict):
        raise ValueError(f"found {kind(call)}, expected one JSON object")  # noqa: TRY004
    return call


def _say(message: str, code: int) -> int:
    print(f"materiac: {message}", file=sys.stderr)
    return code
