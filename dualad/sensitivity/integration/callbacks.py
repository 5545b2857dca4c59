"""The right-hand side as the steppers see it: its values, and its derivatives along directions.

This is the one place where the user's function is evaluated during an integration, plainly or
with tangents. Whatever evaluates it in another way, in fewer calls or in none, goes in here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...transforms.batching import vmap
from ...transforms.forward import jvp
from ..parameters.parameters import Parameters
from .model import Model
from .pushing import derivative, pushed

__all__ = ["AutomaticCallbacks", "Callbacks", "CompiledCallbacks", "kind_of"]

#: After how many passes programs pay, where nobody has asked for them.
MANY = 100


class Callbacks:
    """f(t, y, p) of n rows and its derivatives by y and by the k parameters of `wrt`.

    Args:
        model: the right-hand side with its integrals.
        wrt: the parameters that move.
        scales: the unit in which each of them is measured.
    """

    def __init__(self, model: Model, wrt: Parameters, scales: np.ndarray):
        self.model, self.names = model, wrt.names
        self.n, self.k = len(model.rows), len(wrt)
        self.values = [np.float64(v) for v in wrt.values()]
        self.units = np.diag(scales)
        self.directions: tuple[Any, Any] | None = None

    def f(self, t: Any, y: Any, q: list[Any]) -> Any:
        """The right-hand side, where the k parameters have the values q; all may be traced."""
        return self.model(t, y, dict(zip(self.names, q, strict=True)))

    def value(self, t: float, y: np.ndarray) -> np.ndarray:
        """f, of shape (n,)."""
        return np.asarray(self.model(t, y, {}), float)

    def along(self, t: Any, y: Any, s: Any) -> tuple[Any, Any]:
        """f, and J s_j + c_j df/dp_j of shape (k, n), in one pass; y and s may be traced."""
        if not self.k:
            return self.model(t, y, {}), np.zeros((0, self.n))
        value, slopes = pushed(self.f, t, y, self.values, dy=s, dq=self.units)
        return value, derivative(value, slopes, self.k)

    def columns(
        self, t: float, y: np.ndarray, seeds: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f, its derivatives along the seeds, and c_j df/dp_j, in one pass.

        Args:
            t, y: where.
            seeds: the directions of y, shape (m, n); default each entry of it.

        Returns:
            Arrays of shapes (n,), (m, n) and (k, n).
        """
        if self.directions is None or self.directions[0] is not seeds:
            self.directions = (seeds, self.joined(np.eye(self.n) if seeds is None else seeds))
        dy, dq = self.directions[1]
        value, moves = self.moves(t, y, dy, dq)
        m = len(dy) - self.k
        return np.asarray(value, float), moves[:m], moves[m:]

    def moves(self, t: float, y: np.ndarray, dy: np.ndarray, dq: Any) -> tuple[Any, Any]:
        """f, and its derivatives along directions."""
        value, moves = pushed(self.f, t, y, self.values, dy=dy, dq=dq)
        return value, derivative(value, moves, len(dy))

    def joined(self, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The directions of y and of the parameters that give the derivatives by both."""
        dy = np.concatenate((seeds, np.zeros((self.k, self.n))))
        dq = np.concatenate((np.zeros((len(seeds), self.k)), self.units))
        return dy, dq if self.k else None


class CompiledCallbacks(Callbacks):
    """The same, with passes with tangents as programs, written down once: see `dualad.compile`.

    Plain values stay as they are: of a right-hand side, Python's own overhead is small beside that
    of its operations.
    """

    def __init__(self, model: Model, wrt: Parameters, scales: np.ndarray):
        from ...compiling.compiled import Compiled  # it takes long to import

        super().__init__(model, wrt, scales)
        self.q = np.array(self.values)
        # Machine code would be made anew for each integration, for as long as a short one takes.
        self.program: Any = Compiled(self.together, backend="numpy", watched=model.written)

    def together(self, t: Any, y: Any, q: Any, dy: Any, dq: Any) -> Any:
        """f, and its derivatives along the directions (dy, dq)."""

        def f(y: Any, q: Any) -> Any:
            return self.f(t, y, [q[j] for j in range(self.k)])

        return vmap(lambda a, b: jvp(f, (y, q), (a, b)), out_axes=(None, 0))(dy, dq)

    def run(self, t: Any, y: Any, dy: Any, dq: Any) -> tuple[Any, Any]:
        """One pass with tangents."""
        return self.program(float(t), y, self.q, dy, dq)

    def along(self, t: Any, y: Any, s: Any) -> tuple[Any, Any]:
        """As `Callbacks.along`; where something is traced, by the model itself."""
        if not self.k or type(y) is not np.ndarray or type(s) is not np.ndarray:
            return super().along(t, y, s)
        return self.run(t, y, s, self.units)

    def moves(self, t: float, y: np.ndarray, dy: np.ndarray, dq: Any) -> tuple[Any, Any]:
        """f, and its derivatives along directions."""
        if dq is None:
            return super().moves(t, y, dy, dq)
        return self.run(t, y, dy, dq)


class AutomaticCallbacks(CompiledCallbacks):
    """Programs from some passes on, for a model that can be seen to depend on its arguments alone.

    A model that reads a list, a dict or another object that may change inside runs as it is; so
    does, for some time, one that reads a number or an array that has just changed.
    """

    def __init__(self, model: Model, wrt: Parameters, scales: np.ndarray):
        Callbacks.__init__(self, model, wrt, scales)
        self.q = np.array(self.values)
        self.program = None
        self.passes = 0
        self.wait = MANY
        self.visible: Any = None

    def run(self, t: Any, y: Any, dy: Any, dq: Any) -> tuple[Any, Any]:
        """One pass with tangents, as a program after many."""
        if self.program is not None:
            if self.visible.unchanged():
                return self.program(float(t), y, self.q, dy, dq)
            self.program, self.passes, self.wait = None, 0, 2 * self.wait
        self.passes += 1
        if self.passes == self.wait:
            self.program = self.if_safe()
        value, moves = pushed(self.f, t, y, self.values, dy=dy, dq=dq)
        return value, derivative(value, moves, len(dy))

    def if_safe(self) -> Any:
        """The program, where the model's functions capture nothing that may change unseen."""
        from ...compiling.compiled import Compiled
        from ...compiling.visible import Visible

        functions = self.model.written
        self.visible = Visible(*functions)
        if self.visible.why is not None:
            return None
        return Compiled(self.together, backend="numpy", warns=False, watched=functions)


def kind_of(compiled: bool | str) -> type[Callbacks]:
    """The callbacks for an option `compile`."""
    if compiled == "auto":
        return AutomaticCallbacks
    return CompiledCallbacks if compiled else Callbacks
