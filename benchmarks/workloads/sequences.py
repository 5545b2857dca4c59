"""A recurrent network: a Python loop of some ten thousand small operations."""

import itertools
from collections.abc import Callable
from typing import Any

from .workload import rng, workload

STEPS, WIDTH, CELLS = 256, 14, 2


def weights() -> tuple:
    return rng(12).uniform(size=(2 * CELLS, 4 * WIDTH)), rng(13).uniform(size=(3, WIDTH))


def sigmoid(xp: Any, x: Any) -> Any:
    return 1.0 / (1.0 + xp.exp(-x))


def cell(xp: Any, entry: Any, hidden: Any, memory: Any, w: Any, b: Any) -> tuple:
    """One cell with diagonal weights: its new hidden state and memory."""
    gates = xp.concatenate([entry, hidden, entry, hidden]) * w + b
    open_ = sigmoid(xp, gates[: 3 * WIDTH])
    forget, take, give = open_[:WIDTH], open_[WIDTH : 2 * WIDTH], open_[2 * WIDTH :]
    memory = memory * forget + take * xp.tanh(gates[3 * WIDTH :])
    return give * xp.tanh(memory), memory


@workload(
    "lstm_256",
    "two LSTM cells of width 14 over 256 steps",
    weights,
    targets={"grad": 10, "jvp": 5},
    dominates="11,000 operations on 14 to 56 numbers, each of which is two or three of NumPy's: "
    "the 4300 slices and rows taken are a fifth of a jvp, products a seventh, the 510 "
    "concatenations a tenth, of which half is what NumPy takes to hand them over.",
    operations=255 * 45,
    quick=False,
)
def lstm(xp: Any, constant: Callable) -> Callable:
    letters = rng(14).integers(0, 2, (STEPS, WIDTH)).astype(float)
    letters = [constant(row) for row in letters]
    start = [constant(row) for row in rng(15).uniform(size=(2 * CELLS, WIDTH))]

    def f(main: Any, outer: Any) -> Any:
        state, total = list(start), 0.0
        for now, then in itertools.pairwise(letters):
            x = now * outer[0]
            for k in range(0, 2 * CELLS, 2):
                x, memory = cell(xp, x, state[k], state[k + 1], main[k], main[k + 1])
                state[k : k + 2] = x, memory
            guess = x * outer[1] + outer[2]
            total = total + xp.sum(then * (guess - xp.log(xp.sum(xp.exp(guess)) + 2.0)))
        return -total / float(WIDTH * (STEPS - 1))

    return f
