"""Tracing: the records of a cast as spans of OpenTelemetry.

`spans` makes them of records and knows no library; `sending` hands them to one, and is imported only
then. The names are those of the semantic conventions for generative AI, version 0.1.0, and `materiac.…`
for what these have no name for.
"""

from materiac.tracing.watcher import TraceError, Watcher, secrets

__all__ = ["TraceError", "Watcher", "secrets"]
