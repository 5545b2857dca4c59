"""Points for a numerical check: drawn so that they suit shapes and assumptions."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .assumptions import PROPERTIES, statements

__all__ = ["draw_points", "read_point"]

#: Tries in all, and how many of them before numbers twice as large are drawn.
TRIES, WIDER = 5000, 250
SCOPE = {"pi": math.pi, "sqrt": np.sqrt, "abs": np.abs, "exp": np.exp, "e": math.e}
COMPARE = {ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Lt: np.less,
           ast.LtE: np.less_equal, ast.NotEq: np.not_equal}  # fmt: skip


def read_point(texts: Sequence[str]) -> dict[str, Any]:
    """Values by name from texts such as "x=2, v=[1, 2.5]"; whole numbers become floats.

    >>> read_point(["x=2", "v=[1, 2.5], name='a'"])
    {'x': 2.0, 'v': array([1. , 2.5]), 'name': 'a'}
    """
    out: dict[str, Any] = {}
    for text in texts:
        try:
            call = ast.parse(f"dict({text})", mode="eval").body
            assert isinstance(call, ast.Call) and call.keywords and not call.args
            for k in call.keywords:
                assert k.arg is not None
                out[k.arg] = _value(ast.literal_eval(k.value))
        except (SyntaxError, ValueError, AssertionError):
            raise ArgumentError(f"{text!r} is not of the form NAME=VALUE") from None
    return out


def _value(x: Any) -> Any:
    """A literal as an argument: numbers are floats, lists of numbers arrays."""
    if isinstance(x, dict):
        return {k: _value(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        numbers = np.asarray(x) if not any(isinstance(v, dict) for v in x) else None
        if numbers is not None and numbers.dtype.kind in "iufc":
            return numbers.astype(complex if numbers.dtype.kind == "c" else float)
        return type(x)(map(_value, x))
    return float(x) if isinstance(x, int) and not isinstance(x, bool) else x


def draw_points(
    shapes: Mapping[str, tuple[int, ...]],
    assume: Any = (),
    given: Mapping[str, Any] | None = None,
    count: int = 3,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Points at which all assumptions hold.

    Args:
        shapes: name -> shape of each argument.
        assume: statements, as `prove` takes them.
        given: values of some arguments, which stay.
        count: how many points.
        seed: of the draws.

    Raises:
        ArgumentError: an assumption cannot be read, or no point was found.

    >>> [p] = draw_points({"x": (), "p": (2,)}, "x > 1, 0 < p < 1", count=1)
    >>> bool(p["x"] > 1), bool(np.all((p["p"] > 0) & (p["p"] < 1)))
    (True, True)
    """
    told = statements(assume)
    words = {n: {w for t in told for w in _words(t, n)} for n in shapes}
    tests = [_test(t, shapes) for t in told if not _is_word(t)]
    bounds = {n: _bounds(n, tests, words[n]) for n in shapes}
    random = np.random.default_rng(seed)
    out: list[dict[str, Any]] = []
    for attempt in range(TRIES):
        wide = 2.0 ** (attempt // WIDER)
        point = {
            n: (given or {})[n]
            if n in (given or {})
            else _draw(random, s, words[n], bounds[n], wide)
            for n, s in shapes.items()
        }
        if all(_holds(t, point) for t in tests):
            out.append(point)
        if len(out) == count:
            return out
    raise ArgumentError(
        f"no point was found at which {' and '.join(told)}: say where to look, with at= or --at"
    )


def _is_word(text: str) -> bool:
    parts = text.split()
    return len(parts) in (2, 3) and parts[-1] in PROPERTIES


def _words(text: str, name: str) -> Iterator[str]:
    if _is_word(text) and text.split()[0] == name:
        yield text.split()[-1]


def _test(text: str, names: Mapping[str, Any]) -> ast.Compare:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        tree = ast.Constant(None)
    if not isinstance(tree, ast.Compare) or any(type(op) not in COMPARE for op in tree.ops):
        raise ArgumentError(f"the assumption {text!r} is no comparison such as 'x > 0'")
    for n in ast.walk(tree):
        if isinstance(n, ast.Name) and n.id not in {*names, *SCOPE}:
            raise ArgumentError(
                f"the assumption {text!r} is about {n.id!r}, but the arguments are "
                f"{', '.join(names)}"
            )
    return tree


def _evaluate(node: ast.expr, point: Mapping[str, Any]) -> Any:
    code = compile(ast.Expression(node), "<assumption>", "eval")
    return eval(code, {"__builtins__": {}}, {**SCOPE, **point})


def _holds(tree: ast.Compare, point: Mapping[str, Any]) -> bool:
    sides = [_evaluate(s, point) for s in (tree.left, *tree.comparators)]
    with np.errstate(all="ignore"):
        return all(
            bool(np.all(COMPARE[type(op)](a, b)))
            for a, op, b in zip(sides, tree.ops, sides[1:], strict=False)
        )


def _bounds(name: str, tests: Sequence[ast.Compare], words: set[str]) -> tuple[float, float]:
    """The interval in which the comparisons with constants, and the words, leave an argument."""
    low = 0.0 if words & {"positive", "nonnegative"} else -math.inf
    high = 0.0 if words & {"negative", "nonpositive"} else math.inf
    for tree in tests:
        sides = [tree.left, *tree.comparators]
        for a, op, b in zip(sides, tree.ops, sides[1:], strict=False):
            for x, y, flip in ((a, b, False), (b, a, True)):
                if not (isinstance(x, ast.Name) and x.id == name):
                    continue
                if any(isinstance(n, ast.Name) and n.id not in SCOPE for n in ast.walk(y)):
                    continue
                edge = float(_evaluate(y, {}))
                if isinstance(op, (ast.Gt, ast.GtE)) != flip:
                    low = max(low, edge)
                elif not isinstance(op, ast.NotEq):
                    high = min(high, edge)
    return low, high


def _draw(
    random: np.random.Generator,
    shape: tuple[int, ...],
    words: set[str],
    bounds: tuple,
    wide: float,
) -> Any:
    """Numbers of ordinary size inside of an interval, of either sign where that is open."""
    low, high = bounds
    size = wide * random.uniform(0.2, 2.0, shape)
    if math.isfinite(low) and math.isfinite(high):
        x = low + (high - low) * random.uniform(0.05, 0.95, shape)
    elif math.isfinite(low):
        x = low + size
    elif math.isfinite(high):
        x = high - size
    else:
        x = size * random.choice([-1.0, 1.0], shape)
    if words & {"integer", "even", "odd"}:
        return _whole(x, words, low)
    if "complex" in words:
        x = x + 1j * random.uniform(0.2, 2.0, shape) * random.choice([-1.0, 1.0], shape)
    return np.asarray(x)[()]


def _whole(x: Any, words: set[str], low: float) -> Any:
    n = np.ceil(x).astype(int)
    if words & {"even", "odd"}:
        n = 2 * n + ("odd" in words)
    if "nonzero" in words or low == 0:
        n = np.where(n == 0, 2 if "even" in words else 1, n)
    return int(n) if np.ndim(n) == 0 else n
