"""What an editor asks for and cannot have."""

from __future__ import annotations


class RefusedError(Exception):
    """A name that cannot be given; the message says why."""
