"""Offline accounting of every GPU-second of a training run."""

__version__ = "0.1.0"
