"""Running commands: for agents and utilities alike, which know nothing of one another."""

from materiac.process.leftovers import end_leftovers
from materiac.process.runner import Completed, StoppedError, run
from materiac.process.start import StartError

__all__ = ["Completed", "StartError", "StoppedError", "end_leftovers", "run"]
