"""Telling others what a cast does: events made of its journal, sent to webhooks beside it."""

from materiac.eventing.dispatcher import Dispatcher
from materiac.eventing.sinks import secrets

__all__ = ["Dispatcher", "secrets"]
