"""Agents: one back end a file, behind one small protocol."""
