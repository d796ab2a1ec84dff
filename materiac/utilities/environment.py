"""As `materiac.environment`."""

from materiac.environment import Mask, clean, looks_secret, secrets

__all__ = ["Mask", "clean", "looks_secret", "secrets"]
