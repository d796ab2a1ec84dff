"""Running commands: for agents and utilities alike, which know nothing of one another."""

from materiac.process.runner import Completed, StoppedError, run
from materiac.process.start import StartError

__all__ = ["Completed", "StartError", "StoppedError", "run"]
