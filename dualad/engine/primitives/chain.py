"""Rules that are chains of linear operations, which are transposed without being traced.

The transpose of a composite's rule is found by running it on a linear variable, whatever it is.
Where it is one linear operation after the other, each of them with its other arguments known, the
transposes of these operations in reverse order are that transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays.spent import is_spent
from .shape import unfit

__all__ = ["CHAINED", "Cases", "Chain", "Link", "shares_of"]


class Link(NamedTuple):
    """A primitive that is linear in its argument k, which is the tangent.

    known(out, *args) are its other arguments, keywords(**params) its keywords, if it has some.
    """

    primitive: Any
    k: int = 0
    known: Callable[..., tuple] = lambda *_: ()
    keywords: Callable[..., dict] | None = None


class Chain:
    """A forward rule: each operation is applied to what the one before it gave.

    reads:     (out, *args, **params) -> what `known` of each link is given; default: (out, *args).
    part:      the output that moves, where there are several of which the others do not.
    split:     the tangents of several outputs from what the last operation gave, and
    join:      (cotangents, out) -> its cotangent from theirs, of which those that are None are 0.
    """

    __slots__ = ("join", "links", "part", "reads", "split")

    def __init__(
        self,
        *links: Link,
        reads: Callable[..., tuple] | None = None,
        part: int | None = None,
        split: Callable[[Any], tuple] | None = None,
        join: Callable[[list, Any], Any] | None = None,
    ):
        self.links, self.reads, self.part, self.split, self.join = links, reads, part, split, join

    def __call__(self, t: Any, out: Any, *args: Any, **params: Any) -> Any:
        given = (out, *args) if self.reads is None else self.reads(out, *args, **params)
        for primitive, k, known, keywords in self.links:
            others = known(*given)
            words = {} if keywords is None else keywords(**params)
            t = primitive(*others[:k], t, *others[k:], **words)
        if self.part is not None:
            return tuple([t if j == self.part else None for j in range(len(out))])
        return t if self.split is None else self.split(t)

    def pull(
        self, ct: Any, like: Any, out: Any, args: tuple, params: dict, total: Any = None
    ) -> Any:
        """The transpose, for an argument of which the Spec is given.

        None where it is zero, or has been added to the total, an array that may be written to.
        """
        if self.join is not None:
            ct = self.join(ct, out)
        elif self.part is None:
            ct = unfit(ct, out)
        elif ct[self.part] is None:
            return None
        else:
            ct = unfit(ct[self.part], out[self.part])
        given = (out, *args) if self.reads is None else self.reads(out, *args, **params)
        calls, spec, last = [], like, self.links[-1]
        for link in self.links:
            primitive, k, known, keywords = link
            others = known(*given)
            words = {} if keywords is None else keywords(**params)
            full = (*others[:k], spec, *others[k:])
            calls.append((primitive.transposes[k], full, spec, words))
            if link is not last:
                spec = primitive.out_spec(full, words)
        for transpose, full, spec, words in reversed(calls[1:]):
            ct = unfit(transpose(ct, *full, **words), spec)
        transpose, full, spec, words = calls[0]
        primitive, k = self.links[0][:2]
        if total is not None and primitive.add_share is not None:
            if primitive.add_share(k, total, ct, *full, **words):
                return None
        return unfit(transpose(ct, *full, **words), spec)


class Cases:
    """A rule that is one of several: `choose`, of (out, *args, **params), says which."""

    __slots__ = ("choose",)

    def __init__(self, choose: Callable[..., Callable[..., Any]]):
        self.choose = choose

    def __call__(self, t: Any, out: Any, *args: Any, **params: Any) -> Any:
        return self.choose(out, *args, **params)(t, out, *args, **params)


#: The kinds of rules that may be transposed without being traced.
CHAINED = Chain, Cases


def shares_of(ct: Any, entry: tuple, g: Any) -> list[tuple[int, Any]] | None:
    """The share of each parent of an entry whose rules are chains; None where one is not.

    What could be added to the cotangents g at once is no longer in them.
    """
    _, parents, primitive, args, params, out, like = entry
    moving, rules = [], []
    for k, i in enumerate(parents):
        if i is not None:
            rule = primitive.rules[k]
            if type(rule) is Cases:
                rule = rule.choose(out, *args, **params)
            if type(rule) is not Chain and rule is not None:
                return None
            moving.append(k)
            rules.append(rule)
    shares = []
    for k, rule in zip(moving, rules, strict=True):
        if rule is not None:
            i = parents[k]
            total = g[i] if type(g[i]) is np.ndarray and is_spent(g, i) else None
            share = rule.pull(ct, like[k], out, args, params, total)
            total = None  # one who holds it less
        else:  # the operation is linear in this argument, or does not depend on it
            transpose = primitive.transposes[k] if primitive.family == "linear" else None
            share = None if transpose is None else unfit(transpose(ct, *args, **params), like[k])
        shares.append((parents[k], share))
    return shares
