"""Anomaly detection: which operation a failure of backward belongs to, and where it was called.

While it is off nothing of it is anywhere near an operation. While it is on, each node of the
graph notes the stack of the call that made it, and a sweep looks at what each rule gives.
"""

from __future__ import annotations

import traceback
import warnings
from typing import Any
from weakref import WeakKeyDictionary

from ..engine.levels.watch import holds_nan, users_frame
from ..engine.programs.entries import pull_part
from ..engine.requires_grad.backprop import Sweep
from ..engine.requires_grad.graph import Node
from ..errors import NaNError

__all__ = [
    "AnomalyError",
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]

#: where each node was made
_stacks: WeakKeyDictionary[Node, traceback.StackSummary] = WeakKeyDictionary()
_plain_init = Node.__init__


class AnomalyError(NaNError, RuntimeError):
    """Under `detect_anomaly`: the derivative of an operation holds a NaN."""


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return Sweep.kind is not Sweep


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection, where it is on, refuses NaN in gradients."""
    return getattr(Sweep.kind, "checks_nan", True)


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly detection on or off, as in PyTorch for all threads."""
    Sweep.kind = Sweep if not mode else _NaNSweep if check_nan else _WatchedSweep
    Node.__init__ = _noted_init if mode else _plain_init  # type: ignore[method-assign]


class set_detect_anomaly:
    """Turn anomaly detection on or off: for good, or to the end of a `with` block.

    Args:
        mode: on or off.
        check_nan: whether a NaN in a gradient is an error.

    >>> import dualad
    >>> with dualad.autograd.set_detect_anomaly(True):
    ...     dualad.is_anomaly_enabled()
    True
    >>> dualad.is_anomaly_enabled()
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self._before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(*self._before)


class detect_anomaly:
    """Within this context backward says which operation has failed, and where that was called.

    Where the rule of an operation raises, a warning shows the stack of the forward call; so it
    is where a NaN comes out of it, which is an error if check_nan is True. This concerns tensors
    that require grad; `dualad.debug_nans` looks at values too, and in all transformations.

    Args:
        check_nan: whether a NaN in a gradient is an error.

    Raises:
        AnomalyError: in backward, a RuntimeError that names the operation.

    >>> import warnings, dualad
    >>> warnings.simplefilter("ignore", UserWarning)
    >>> x = dualad.tensor(1.0, requires_grad=True)
    >>> try:
    ...     with dualad.autograd.detect_anomaly():
    ...         (x * float("nan")).backward()
    ... except RuntimeError as error:
    ...     print(error.operation, error.part)
    multiply cotangent
    """

    def __init__(self, check_nan: bool = True):
        self._check_nan = check_nan
        self._before: list[tuple[bool, bool]] = []
        warnings.warn(
            "Anomaly Detection has been enabled. This mode makes programs slower and should be "
            "enabled only to look for a fault",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before.append((is_anomaly_enabled(), is_anomaly_check_nan_enabled()))
        set_anomaly_enabled(True, self._check_nan)

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(*self._before.pop())


def _noted_init(self: Node, label: str, entry: tuple | None, reads: tuple = ()) -> None:
    _plain_init(self, label, entry, reads)
    frame = users_frame()
    stack = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
    stack.reverse()
    _stacks[self] = stack


class _WatchedSweep(Sweep):
    """A sweep that says of which operation a failure is."""

    is_guarded = True
    checks_nan = False

    def _pull(self, node: Node, ct: Any, g: Any, own: set, guarded: bool) -> None:
        try:
            super()._pull(node, ct, g, own, guarded)
        except Exception:
            warnings.warn(_origin(node), UserWarning, stacklevel=2)
            raise


class _NaNSweep(_WatchedSweep):
    """A sweep that refuses a NaN of a rule too."""

    checks_nan = True

    def pull(self, node: Node, ct: Any, entry: tuple, g: Any, own: set, guarded: bool) -> None:
        if entry[0] is pull_part:
            super().pull(node, ct, entry, g, own, guarded)
            return
        shares = self.shares(node, ct, entry, guarded)
        for k, (parent, share) in enumerate(zip(entry[1], shares, strict=True)):
            if holds_nan(share):
                raise _nan_error(node, k)
            if parent is not None and share is not None:
                g[parent] = share if g[parent] is None else g[parent] + share


def _origin(node: Node) -> str:
    stack = _stacks.get(node)
    if stack is None:
        return (
            f"Error detected in {node.name()}. No forward pass information available: enable "
            "anomaly detection during the forward pass too"
        )
    lines = "".join(stack.format())
    return (
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
        f"{lines}"
    )


def _nan_error(node: Node, k: int) -> AnomalyError:
    stack = _stacks.get(node)
    filename, lineno = (stack[-1].filename, stack[-1].lineno) if stack else ("", None)
    where = f" It was called at {filename}:{lineno}." if stack else ""
    return AnomalyError(
        f"Function {node.name()!r} returned nan values in its {k}th output, the gradient of its "
        f"argument {k}.{where}",
        node.name(),
        "cotangent",
        filename,
        lineno or 0,
    )
