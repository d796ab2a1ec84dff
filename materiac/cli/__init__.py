"""The command line: one file a command, imported when it is called."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from materiac import __version__

USAGE_ERROR = 2
OWN_FAULT = 3
STOPPED = 4
INTERRUPTED = 130
_CASTING = ("run", "resume", "say", "continue")
"""The commands that run a cast, which can be resumed when it is interrupted."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Command(NamedTuple):
    """A command: the module `materiac.cli.<module>` has `add_arguments(parser)` and `run(options)`.

    It may have `arrange(words)`, which gives the words of the call in the way in which they are parsed.
    """

    name: str
    module: str
    summary: str
    example: str


COMMANDS = (
    Command("check", "check", "find what is wrong with loadouts", "materiac check loadout.json"),
    Command("bound", "bound", "say what a cast takes at most", "materiac bound loadout.json --items 10"),
    Command(
        "compile",
        "compile",
        "compile a loadout to a machine",
        "materiac compile loadout.json -o machine.json",
    ),
    Command(
        "diff",
        "diff",
        "say what is another in meaning from one loadout to another",
        "materiac diff old.json loadout.json --breaking",
    ),
    Command("render", "render", "draw a loadout", "materiac render loadout.json --format svg -o grid.svg"),
    Command(
        "run",
        "run",
        "run a loadout to its end",
        'materiac run loadout.json --agent ask --request "tidy the shed"',
    ),
    Command(
        "resume", "resume", "go on with a cast", "materiac resume 20310504 --retry --budget-tokens 500000"
    ),
    Command("say", "say", "answer the agent that a cast waits with", 'materiac say 20310504 "use SQLite"'),
    Command("continue", "continue_", "end the talk that a cast waits in", "materiac continue 20310504"),
    Command("abort", "abort", "stop a cast from outside", "materiac abort 20310504"),
    Command(
        "replay",
        "replay",
        "go the way of a cast once more, without doing anything",
        "materiac replay 20310504 --against loadout.json",
    ),
    Command("casts", "casts", "list the casts, the newest first", "materiac casts -n 10"),
    Command("status", "status", "say how a cast stands, and what goes on with it", "materiac status"),
    Command(
        "inspect",
        "inspect",
        "show the way of a cast, or one of its visits",
        "materiac inspect 20310504 --socket build",
    ),
    Command("tail", "tail", "follow the records of a cast in words", "materiac tail -f"),
    Command(
        "agents", "agents", "list the agents, and whether they can run here", "materiac agents --probe ask"
    ),
    Command("acp", "acp", "be an agent that editors run casts by", "materiac acp --agent pi"),
    Command("lsp", "lsp", "tell editors what is wrong, and help to write", "materiac lsp --stdio"),
    Command("test", "test", "play scenarios of loadouts", "materiac test scenarios --coverage"),
    Command("rules", "rules", "list the rules of check", "materiac rules"),
    Command("explain", "explain", "show the page of a rule", "materiac explain never-ends"),
    Command(
        "utility", "utility", "call a built-in utility by hand", "echo '{}' | materiac utility vcs.detect"
    ),
    Command("fmt", "fmt", "lay out loadout files", "materiac fmt --check loadout.materia"),
    Command(
        "convert",
        "convert",
        "write a loadout file in the other language",
        "materiac convert loadout.json -o loadout.materia",
    ),
    Command(
        "export",
        "export",
        "write a loadout for another tool",
        "materiac export loadout.json --to scxml -o loadout.scxml",
    ),
    Command(
        "import",
        "import_",
        "write an older loadout in the forms of today",
        "materiac import old.json -o loadout.json",
    ),
    Command("new", "new", "begin a loadout from a template", "materiac new review-loop"),
    Command(
        "link",
        "link",
        "chain loadouts into one",
        "materiac link plan.json build.json@Build -o both.json",
    ),
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and which guesses at what a misspelt command should have been."""

    def error(self, message: str) -> NoReturn:
        from materiac.environment import unsecret

        self.exit(USAGE_ERROR, f"materiac: {unsecret(message)}\n{self.format_usage()}")


def _overview() -> str:
    lines = [f"  {command.name:<9} {command.summary}" for command in COMMANDS]
    return "\n".join(["commands:", *lines, "", "`materiac COMMAND --help` tells more, with an example."])


def _parser() -> _Parser:
    parser = _Parser(
        prog="materiac",
        usage="materiac [--help] [--version] COMMAND …",
        description="A language and compiler for workflows of coding agents.",
        epilog=f"{_overview()}\n\nexample:\n  {COMMANDS[0].example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"materiac {__version__}")
    parser.add_argument("command", choices=[command.name for command in COMMANDS], help=argparse.SUPPRESS)
    return parser


def _command_parser(command: Command) -> _Parser:
    return _Parser(
        prog=f"materiac {command.name}",
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        epilog=f"example:\n  {command.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_standard_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error has it
    command = _chosen(words[:1] or ["--help"])
    try:
        code = _run(command, words[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing more can be written, at the exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return STOPPED if command.name in _CASTING else INTERRUPTED
    except OSError as error:
        if error.errno not in _NO_ROOM:
            return own_fault(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"materiac: the output cannot be written: {error.strerror}", file=sys.stderr)
        return USAGE_ERROR
    except Exception as fault:  # noqa: BLE001 (no traceback reaches a user)
        return own_fault(fault)
    return code


def _open_standard_streams() -> None:
    """Whoever starts us may have closed them; what is opened later must not take their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _chosen(words: Sequence[str]) -> Command:
    parser, known = _parser(), {command.name: command for command in COMMANDS}
    if words[0] not in known and not words[0].startswith("-"):
        from materiac.names import suggestion

        parser.error(f"there is no command '{words[0]}': {suggestion(words[0], known) or ', '.join(known)}")
    return known[parser.parse_args(words).command]


def _run(command: Command, words: Sequence[str]) -> int:
    module = importlib.import_module(f"materiac.cli.{command.module}")
    parser = _command_parser(command)
    parser.add_argument("--version", action="version", version=f"materiac {__version__}")
    module.add_arguments(parser)
    arrange: Callable[[Sequence[str]], list[str]] = getattr(module, "arrange", list)
    code: int = module.run(parser.parse_args(arrange(words)))
    return code


def own_fault(fault: Exception) -> int:
    """Say that we are wrong, without a traceback where nobody asked for one; the exit code of that."""
    from materiac.environment import unsecret

    told = unsecret(f"{type(fault).__name__}: {fault}")
    print(f"materiac: a fault of materiac itself: {told}", file=sys.stderr)
    if os.environ.get("MATERIAC_DEBUG"):
        import traceback

        traceback.print_exception(fault)
    else:
        print("materiac: please report it, with what MATERIAC_DEBUG=1 shows", file=sys.stderr)
    return OWN_FAULT
