"""The version, stated once: the build and `dualad.__version__` read it here."""

__all__ = ["__version__"]

__version__ = "0.1.0"
