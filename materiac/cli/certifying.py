"""Certificates: `materiac check` writes them, `materiac run` holds a loadout against one."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from materiac.cli import reading

if TYPE_CHECKING:
    from materiac.program import Program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--certificate",
        metavar="OUT",
        help="write what was proved, and of which programs, if the check succeeds; - for standard output",
    )


def add_requirement(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--require-certificate",
        metavar="CERTIFICATE",
        help="run nothing but a program that `materiac check --certificate` has written this of",
    )


def wrong_use(options: argparse.Namespace) -> str | None:
    """What is wrong with these options together."""
    if options.certificate is None:
        return None
    if len(options.files) != 1 or options.files == ["-"]:
        return "a certificate is of one file, which has a name"
    return "a certificate is of a file as it is: not with --dry-run" if options.dry_run else None


def fills_output(options: argparse.Namespace) -> bool:
    """Whether standard output is for the certificate, and not for findings."""
    return bool(options.certificate == "-")


def write(options: argparse.Namespace) -> int:
    """Write the certificate of a file that was looked at; 1 where it gets none, 2 where that cannot be."""
    from materiac import pipeline
    from materiac.certificate import certificate
    from materiac.cli import loading

    (file,), out, how = options.files, options.certificate, reading.reading(options)
    try:
        text = loading.read_text(file, how.language)
        layers = loading.surroundings().on_top(text, allow_outside=how.allow_outside)
    except loading.UnreadableError as error:
        loading.complain(str(error))
        return 2
    done = pipeline.compile_all(layers.texts, options.loadout)
    if not done.images:
        loading.complain(f"'{file}' gets no certificate: there is no loadout in it that is sound")
        return 1
    programs = {name: image.program for name, image in done.images.items()}
    data = certificate(file, programs, done.graphs, done.findings, done.suppressed)
    written = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    return loading.write_output(out, written.encode(), made_from=file)


def refusal(path: str, program: Program) -> str | None:
    """Why a program may not run under a certificate; None where it may."""
    from materiac import certificate
    from materiac.cli import loading

    try:
        programs = certificate.read(loading.read_text(path).raw.decode())
    except loading.UnreadableError as error:
        return str(error)
    except (UnicodeDecodeError, certificate.CertificateError) as error:
        reason = "it is no UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        return f"'{path}' cannot be used as a certificate: {reason}"
    if program.digest() in programs:
        return None
    if program.name in programs.values():
        return f"loadout '{program.name}' is not what '{path}' was written of: check it again"
    return f"'{path}' was written of other loadouts than '{program.name}'"
