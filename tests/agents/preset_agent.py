"""A program as presets call one, for tests: it tells how it was called, then prints what it is told to.

    preset_agent.py ARGUMENT…

`PRINT` is a file with what it prints, as it is; without it, what it was called with is an answer. `EXIT`
is its exit code, `LAST_WORDS` what it says on its standard error.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    told = {"arguments": arguments, "stdin": sys.stdin.buffer.read().decode(), "env": dict(os.environ)}
    told["files"] = {word: Path(word).read_text() for word in arguments if Path(word).is_file()}
    Path("called.json").write_text(json.dumps(told), encoding="utf-8")
    printed = os.environ.get("PRINT")
    sys.stdout.buffer.write(Path(printed).read_bytes() if printed else b"an answer")
    sys.stderr.write(os.environ.get("LAST_WORDS", ""))
    return int(os.environ.get("EXIT", "0"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
