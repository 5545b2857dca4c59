"""Einstein sums: one multilinear primitive on subscripts that are brought to a plain form first.

In the plain form no operand repeats a label, and each label of an operand appears in another
operand or in the output. The transpose in an operand is then again such a sum: of the cotangent
with the conjugates of the other operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray
from ..engine.primitives.inplace import link, store
from ..engine.primitives.linear import Linear
from .getitem import index_set
from .operands import array_of
from .products import conj
from .registry import function
from .structure import reshape, sum_axes, transpose

__all__ = ["einsum"]


# --- the primitive -------------------------------------------------------------------------------


def _terms(subscripts: str) -> tuple[list[str], str]:
    inputs, _, output = subscripts.partition("->")
    return inputs.split(","), output


def _pull(ct: Any, k: int, *xs: Any, subscripts: str, optimize: Any) -> Any:
    terms, output = _terms(subscripts)
    rest = [conj(x) for j, x in enumerate(xs) if j != k]
    others = [t for j, t in enumerate(terms) if j != k]
    return einsum(
        ct, *rest, subscripts=f"{','.join([output, *others])}->{terms[k]}", optimize=optimize
    )


def _batch(args: tuple, mine: tuple, subscripts: str, optimize: Any) -> Any:
    terms, output = _terms(subscripts)
    b = next(c for c in ascii_letters if c not in subscripts)
    inputs = ",".join(b + t if m else t for t, m in zip(terms, mine, strict=True))
    return einsum(*args, subscripts=f"{inputs}->{b}{output}", optimize=optimize)


def _spec(*xs: Any, subscripts: str, optimize: Any) -> Spec:
    terms, output = _terms(subscripts)
    size = {c: n for t, x in zip(terms, xs, strict=True) for c, n in zip(t, x.shape, strict=True)}
    return Spec(tuple(size[c] for c in output), np.result_type(*(x.dtype for x in xs)))


einsum = Linear(
    lambda *xs, subscripts, optimize: np.einsum(subscripts, *xs, optimize=optimize),
    _pull,
    variadic=True,
    batch=_batch,
    spec=_spec,
    show=lambda *xs, subscripts, optimize: f"np.einsum({subscripts}, {', '.join(xs)})",
    name="einsum",
)


# --- reading subscripts --------------------------------------------------------------------------


def _letter(label: Any) -> str:
    """A label of the list form as a letter, in the same order."""
    return "..." if label is Ellipsis else (ascii_uppercase + ascii_lowercase)[label]


def _from_lists(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The subscripts of einsum(x, [0, 1], y, [1, 2], [0, 2]) as a string."""
    xs, labels = list(operands[0::2]), list(operands[1::2])
    output = None
    if len(operands) % 2:
        output = "".join(map(_letter, xs.pop()))
    text = ",".join("".join(map(_letter, s)) for s in labels)
    return text if output is None else f"{text}->{output}", xs


@lru_cache(maxsize=512)
def _parse(subscripts: str, ranks: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """One letter for each axis of each operand and of the output, ellipses written out."""
    text = subscripts.replace(" ", "")
    if not set(text.replace("...", "").replace("->", "")) <= {*ascii_letters, ","}:
        raise ValueError(f"einsum: {subscripts!r} has characters that are not labels")
    text = text.replace("...", ".")
    terms, output = _terms(text)
    if len(terms) != len(ranks):
        raise ValueError(f"einsum: {len(terms)} terms in {subscripts!r}, {len(ranks)} operands")
    extra = [r - len(t.replace(".", "")) for t, r in zip(terms, ranks, strict=True)]
    for term, n, r in zip(terms, extra, ranks, strict=True):
        if term.count(".") > 1 or n < 0 or (n > 0 and "." not in term):
            raise ValueError(f"einsum: the term {term!r} does not fit an operand of {r} axes")
    free = [c for c in ascii_letters if c not in text]
    dots = "".join(free[: max(extra)])
    full = tuple(t.replace(".", dots[len(dots) - n :]) for t, n in zip(terms, extra, strict=True))
    if "->" not in text:
        named = "".join(terms).replace(".", "")
        return full, dots + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    if dots and "." not in output:
        raise ValueError(f"einsum: the output of {subscripts!r} lacks the ellipsis")
    output = output.replace(".", dots)
    if len(set(output)) != len(output) or not set(output) <= set("".join(full)):
        raise ValueError(f"einsum: the output of {subscripts!r} repeats a label or has a new one")
    return full, output


# --- the plain form ------------------------------------------------------------------------------


def _sizes(terms: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """The length of each label; an axis of length one fits any."""
    size: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for c, n in zip(term, shape, strict=True):
            if size.setdefault(c, n) == 1:
                size[c] = n
            if n not in (1, size[c]):
                raise ValueError(f"einsum: axes of lengths {size[c]} and {n} share one label")
    return size


def _without_ones(term: str, x: Any, size: dict[str, int]) -> tuple[str, Any]:
    """The operand without the axes along which it is broadcast."""
    keep = [k for k, c in enumerate(term) if x.shape[k] == size[c]]
    if len(keep) == len(term):
        return term, x
    return "".join(term[k] for k in keep), reshape(x, shape=tuple(x.shape[k] for k in keep))


def _without_repeats(term: str, x: Any) -> tuple[str, Any]:
    """The operand's diagonal along axes of one label."""
    for c in term:
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x = np.diagonal(x, axis1=i, axis2=j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + c
    return term, x


def _without_sums(term: str, x: Any, needed: set[str]) -> tuple[str, Any]:
    """The operand summed over labels that nothing else has."""
    axes = tuple(k for k, c in enumerate(term) if c not in needed)
    return (
        (term, x)
        if not axes
        else ("".join(c for c in term if c in needed), sum_axes(x, axes=axes))
    )


@lru_cache(maxsize=512)
def _plain(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> str | None:
    """The subscripts in the plain form, None if the operands must be changed for it."""
    terms, output = _parse(subscripts, tuple(map(len, shapes)))
    size = _sizes(terms, shapes)
    for k, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        others = set(output).union(*(t for j, t in enumerate(terms) if j != k))
        stretched = any(size[c] != n for c, n in zip(term, shape, strict=True))
        if stretched or len(set(term)) != len(term) or not set(term) <= others:
            return None
    return f"{','.join(terms)}->{output}" if len(terms) > 1 else None


@function(np.einsum)
def np_einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, **kwargs: Any
) -> Any:
    """The sum of products that subscripts describe, in both calling forms."""
    if isinstance(operands[0], str):
        subscripts, xs = operands[0], list(operands[1:])
    else:
        subscripts, xs = _from_lists(operands)
    xs = [array_of(x) if dtype is None else array_of(x).astype(dtype) for x in xs]
    optimize = optimize if isinstance(optimize, (bool, str)) else True
    plain = _plain(subscripts, tuple([x.shape for x in xs]))
    if plain is not None:
        result = einsum(*xs, subscripts=plain, optimize=optimize)
    else:
        result = _simplified(subscripts, list(xs), optimize)
    if out is not None:
        return store(out, result)
    return _as_view(subscripts, xs[0], result) if len(xs) == 1 else result


def _as_view(subscripts: str, x: Any, result: Any) -> Any:
    """The result as a view of the only operand, as NumPy gives it where nothing is summed."""
    parsed, output = _parse(subscripts, (x.ndim,))
    if result is x or set(parsed[0]) != set(output) or not isinstance(x, TracedArray):
        return result

    def put(base: Any, value: Any) -> Any:
        at = np.einsum(subscripts, np.arange(x.size).reshape(x.shape))
        flat = index_set(np.reshape(base, (-1,)), value, index=(at,))
        return np.reshape(flat, x.shape)

    return link(x, result, lambda base: _simplified(subscripts, [base], False), put)


def _simplified(subscripts: str, xs: list[Any], optimize: Any) -> Any:
    """Bring the operands to the plain form, then sum."""
    parsed, output = _parse(subscripts, tuple(x.ndim for x in xs))
    terms, size = list(parsed), _sizes(parsed, [x.shape for x in xs])
    for k, x in enumerate(xs):
        terms[k], xs[k] = _without_repeats(*_without_ones(terms[k], x, size))
    for k, x in enumerate(xs):
        needed = set(output).union(*(t for j, t in enumerate(terms) if j != k))
        terms[k], xs[k] = _without_sums(terms[k], x, needed)
    if len(xs) > 1:
        return einsum(*xs, subscripts=f"{','.join(terms)}->{output}", optimize=optimize)
    order = tuple(terms[0].index(c) for c in output)
    return xs[0] if order == tuple(range(len(order))) else transpose(xs[0], axes=order)
