"""Elementwise functions as straight-line arithmetic, which becomes vector instructions."""
