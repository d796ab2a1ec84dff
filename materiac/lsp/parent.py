"""Ending with the editor that has started us, be it gone without a word."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final

_EVERY_S: Final = 1.0


def outlive_no(process: int, end: Callable[[], None]) -> None:
    """Call `end`, and exit, once a process has gone. One that cannot be seen from here is not waited for."""
    if process > 0 and _is_there(process):
        threading.Thread(target=_watch, args=(process, end), daemon=True).start()


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _watch(process: int, end: Callable[[], None]) -> None:
    while _is_there(process):
        time.sleep(_EVERY_S)
    end()
    os._exit(1)
