"""What operations on tensors may see of their derivatives: a setting of the context.

`no_grad` turns recording off for every level that is open; a functional transformation (grad, vjp)
that is entered later records all the same, as in PyTorch. Any exception restores the setting.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from ...errors import ArgumentError
from ..levels.level import newest_rank

__all__ = [
    "DEFAULT",
    "GradMode",
    "current_mode",
    "enable_grad",
    "graph_recording",
    "hidden_duals",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "recording",
    "set_grad_enabled",
]


class GradMode:
    """Which levels count.

    recording: whether recording is on, as the user sees it.
    floor:     recorded values count from this rank on.
    base:      the floor while recording is on: what no_grad outside of a transformation has set.
    ceiling:   tangents of dual levels count below this rank.
    """

    __slots__ = ("base", "ceiling", "floor", "recording")

    def __init__(
        self,
        recording: bool = True,
        floor: float = 0.0,
        base: float = 0.0,
        ceiling: float = float("inf"),
    ):
        self.recording, self.floor, self.base, self.ceiling = recording, floor, base, ceiling


DEFAULT = GradMode()
#: above the rank of the requires_grad graph, below that of every other level
ABOVE_GRAPH = 0.75

_mode: ContextVar[GradMode] = ContextVar("dualad_grad_mode", default=DEFAULT)
current_mode = _mode.get


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require grad are recorded now."""
    return _mode.get().recording


class recording:
    """Inside a functional reverse transformation, which records also within no_grad."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        outside = _mode.get()
        if outside is DEFAULT:
            self._token: Any = None
            return
        floor = outside.floor if outside.recording else newest_rank()
        self._token = _mode.set(GradMode(True, floor, floor, outside.ceiling))

    def __exit__(self, *exc: object) -> None:
        if self._token is not None:
            _mode.reset(self._token)


def graph_recording(mode: bool) -> Any:
    """Recording in the requires_grad graph, on or off; functional levels count as before."""
    now = _mode.get()
    floor = now.base if mode else max(now.floor, ABOVE_GRAPH)
    return _set(GradMode(mode, floor, now.base, now.ceiling))


def hidden_duals(rank: float) -> Any:
    """Tangents of dual levels from this rank on are not seen: so inside the rule of one."""
    now = _mode.get()
    return _set(GradMode(now.recording, now.floor, now.base, rank))


class _set:
    """Within it a mode holds."""

    __slots__ = ("_mode", "_token")

    def __init__(self, mode: GradMode):
        self._mode = mode

    def __enter__(self) -> None:
        self._token = _mode.set(self._mode)

    def __exit__(self, *exc: object) -> None:
        _mode.reset(self._token)


class _Setting:
    """A context manager and decorator that sets whether operations are recorded."""

    def __init__(self, mode: bool):
        self.mode = mode
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        self._tokens.append(_switch(self.mode))

    def __exit__(self, *exc: object) -> None:
        _mode.reset(self._tokens.pop())

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(f):
            return _decorated_generator(f, self.mode)

        @functools.wraps(f)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with _Setting(self.mode):
                return f(*args, **kwargs)

        return wrapped


def _switch(mode: bool) -> Any:
    now = _mode.get()
    floor = now.base if mode else float("inf")
    return _mode.set(GradMode(mode, floor, now.base, now.ceiling))


def _decorated_generator(f: Callable[..., Any], mode: bool) -> Callable[..., Any]:
    """A generator function each step of which runs in the mode."""

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with _Setting(mode):
            steps = f(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(next, steps)
        while True:
            try:
                with _Setting(mode):
                    value = step()
            except StopIteration as end:
                return end.value
            try:
                step = functools.partial(steps.send, (yield value))
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as error:
                step = functools.partial(steps.throw, error)

    return wrapped


class no_grad(_Setting):
    """Within it nothing is recorded for backward; forward mode goes on.

    >>> import dualad
    >>> x = dualad.tensor(1.0, requires_grad=True)
    >>> with dualad.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, f: Callable[..., Any] | None = None):
        super().__init__(False)

    def __new__(cls, f: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if f is None else cls()(f)


class enable_grad(_Setting):
    """Within it operations are recorded again, also inside no_grad."""

    def __init__(self, f: Callable[..., Any] | None = None):
        super().__init__(True)

    def __new__(cls, f: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if f is None else cls()(f)


class inference_mode(_Setting):
    """The same as `no_grad`: what is computed within may be used afterwards like any other tensor.

    >>> import dualad
    >>> x = dualad.tensor(1.0, requires_grad=True)
    >>> with dualad.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, mode: Callable[..., Any] | bool = True):
        super().__init__(not mode)
        if not mode:
            self.mode = is_grad_enabled()

    def __new__(cls, mode: Callable[..., Any] | bool = True) -> Any:
        return cls()(mode) if callable(mode) else super().__new__(cls)


class set_grad_enabled(_Setting):
    """Set the grad mode: at once when called, restored at the end of a with block."""

    def __init__(self, mode: bool):
        if not isinstance(mode, bool):
            raise ArgumentError(f"set_grad_enabled takes a bool, not {type(mode).__name__}")
        super().__init__(mode)
        self._before = _mode.get()
        self._tokens.append(_switch(self.mode))

    def __enter__(self) -> None:
        pass

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _mode.set(self._before)
        return super().__call__(f)
