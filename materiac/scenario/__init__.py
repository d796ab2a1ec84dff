"""Scenarios: casts that are told beforehand, and what must come of them."""
