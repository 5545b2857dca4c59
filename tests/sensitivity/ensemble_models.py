"""Models that another process can import."""

import os
import signal
import time

import numpy as np


def decaying(p):
    """A small function model."""
    return {"x": np.exp(-p.k * np.arange(3.0)), "y": p.k * p.c}


def fails_above(p):
    """Branches on a value, and fails for some."""
    if p.k > 1.5:
        raise ValueError(f"k = {p.k} is too large")
    return p.k * p.c


class DiesOnce:
    """A model whose process dies the first time that it comes to one member."""

    __name__ = "dies_once"

    def __init__(self, mark, at):
        self.mark, self.at = str(mark), at

    def __call__(self, p):
        time.sleep(0.01)
        if p.k == self.at and not self.died():
            with open(self.mark, "w") as file:
                file.write("dying")
            os.kill(os.getpid(), signal.SIGKILL)
        return p.k * p.c

    def died(self):
        return os.path.exists(self.mark)


class DiesAlways:
    """A model whose process dies whenever it comes to one member."""

    __name__ = "dies_always"

    def __init__(self, at):
        self.at = at

    def __call__(self, p):
        if p.k == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return p.k * p.c
