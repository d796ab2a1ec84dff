"""materiac: a language and compiler for workflows of coding agents."""

__version__ = "0.1.0"
