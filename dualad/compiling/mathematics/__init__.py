"""Elementwise functions as straight-line arithmetic that a compiler turns into vector instructions."""
