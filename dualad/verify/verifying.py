"""One case of `dualad verify`: proved on symbols, checked at points, and what follows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..autograd.custom_vjp import custom_vjp
from ..errors import ArgumentError, DualADError, MissingExtraError
from ..transforms.custom import custom_jvp
from .case import Case
from .numerical import check
from .points import draw_points
from .problem import argument_names, is_function_class, shape_of
from .report import Report, joined
from .verdicts import RIGHT, WRONG

__all__ = ["Outcome", "Wish", "verify_case"]

VERIFIED, REFUTED, UNDECIDED = "verified", "refuted", "undecided"
#: Claims that `prove` takes beside a derivative.
CLAIMS = ("gradient", "jacobian", "hessian", "equals", "forward")
POINTS = 3


@dataclass
class Wish:
    """What the command line asks for.

    Attributes:
        prove, numeric: the two flags; neither means: prove, and check what is left.
        at: values of arguments by name.
        options: what `prove` is told beside what the case says.
    """

    prove: bool = False
    numeric: bool = False
    at: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0


@dataclass
class Outcome:
    """What is known of a case.

    Attributes:
        case: which.
        proof: the result of `prove`, if it was asked.
        report: the result of `check`, if it was asked.
        notes: what could not be done, and why.
    """

    case: Case
    proof: Any = None
    report: Report | None = None
    notes: list[str] = field(default_factory=list)
    nothing_to_prove: bool = False

    @property
    def verdict(self) -> str:
        """refuted by either; verified by a proof, or by the check where none was to be had."""
        proof = None if self.proof is None else self.proof.verdict
        seen = None if self.report is None else self.report.verdict
        if "refuted" == proof or seen == WRONG:
            return REFUTED
        if proof == "proved" or (seen == RIGHT and self.nothing_to_prove):
            return VERIFIED
        return UNDECIDED

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.case.expect

    def table(self) -> str:
        """Both results as text."""
        parts = [r.table() for r in (self.proof, self.report) if r is not None]
        parts = parts or [f"{self.case.name}: {self.verdict}"]
        parts += [f"  {n}" for n in self.notes]
        if self.verdict == UNDECIDED and self.report:
            parts.append("  undecided: right at the points looked at, which is no proof")
        parts += [f"  {told}" for told in self._expectation()]
        return "\n".join(parts)

    def _expectation(self) -> list[str]:
        """How the verdict compares with what the file expects, if it expects something."""
        if self.case.expect == VERIFIED:
            return []
        if self.as_expected:
            return [f"{self.verdict}, as the file says"]
        return [f"the file expects it to be {self.case.expect}, but it is {self.verdict}"]

    def markdown(self) -> str:
        """Both results as Markdown."""
        parts = [f"## {self.case.name}: {self.verdict}"]
        parts += [r.markdown() for r in (self.proof, self.report) if r is not None]
        parts += self.notes + self._expectation()
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Both results as plain dicts; the keys of a proof are at the top."""
        out: dict[str, Any] = {} if self.proof is None else json.loads(self.proof.to_json())
        out |= {
            "name": self.case.name,
            "check": None if self.report is None else self.report.to_dict(),
        }
        out |= {"expected": self.case.expect, "notes": self.notes}
        out["verdict"] = self.proof.verdict if self.report is None and self.proof else self.verdict
        return out


def verify_case(case: Case, wish: Wish) -> Outcome:
    """Prove and check a case, as far as is asked and can be done.

    Raises:
        ArgumentError: the request does not fit the case.
    """
    out = Outcome(case)
    options = {**case.options, **wish.options}
    out.nothing_to_prove = wish.numeric and not wish.prove
    if case.by != "check" and (wish.prove or not wish.numeric):
        _prove(out, options, wish)
    elif case.by == "check":
        out.nothing_to_prove = True
    settled = out.proof is not None and out.proof.verdict != "undecided"
    asked = wish.numeric or wish.at or case.at or case.by == "check"
    if case.by != "prove" and (asked or not (settled or wish.prove)):
        _check(out, options, wish)
    return out


def _prove(out: Outcome, options: dict[str, Any], wish: Wish) -> None:
    from ..symbolic.errors import NotSymbolicError
    from .proving import prove

    if not _has_claim(out.case.subject, options):
        if wish.prove:
            raise ArgumentError(
                f"there is nothing to prove about {out.case.name}: it is a plain function; give a "
                "pair (f, derivative), or check it with --numeric"
            )
        out.nothing_to_prove = True
        return
    try:
        known = {k: v for k, v in options.items() if k not in CHECK_ONLY}
        out.proof = prove(out.case.subject, **{"seed": wish.seed, **known}, name=out.case.name)
    except NotSymbolicError as error:
        out.notes.append(f"not proved: {error}")
    except MissingExtraError as error:
        if wish.prove:
            raise
        out.notes.append(f"not proved: {error}")
    except DualADError:
        raise
    except Exception as error:
        # Arguments that are containers, and whatever else the code does not find in numbers.
        if wish.prove or not (wish.at or out.case.at):
            raise
        out.notes.append(f"not proved: {type(error).__name__} on symbols: {error}")


#: What a case may tell `check` alone.
CHECK_ONLY = ("kinks", "complex", "second_order", "batching", "precision", "output", "derivative")
PROVE_ONLY = ("limit", "assume", "shapes", "fixed", "gradient", "jacobian", "forward", "equals")


def _has_claim(subject: Any, options: Mapping[str, Any]) -> bool:
    pair = isinstance(subject, (tuple, list))
    rule = is_function_class(subject) or isinstance(subject, (custom_jvp, custom_vjp))
    return pair or rule or any(options.get(k) is not None for k in CLAIMS)


def _check(out: Outcome, options: dict[str, Any], wish: Wish) -> None:
    subject, derivative = out.case.subject, None
    if isinstance(subject, (tuple, list)):
        subject, derivative = subject[0], tuple(subject[1:])
    if options.get("equals") is not None or not _is_code(subject, derivative):
        out.notes.append("not checked: a formula of SymPy, and equal values, are for the proof")
        return
    for kind in ("gradient", "jacobian"):
        if options.get(kind) is not None:
            derivative = (options[kind],)
    at = {**out.case.at, **wish.at}
    fixed = dict(options.get("fixed") or {})
    shapes = {n: shape_of(s) for n, s in (options.get("shapes") or {}).items()}
    names = argument_names(subject, {**shapes, **dict.fromkeys(at, ())}, fixed)
    points = _points(names, shapes, options.get("assume") or (), {**fixed, **at}, wish.seed)
    told = {k: v for k, v in options.items() if k not in PROVE_ONLY}
    told.setdefault("wrt", [n for n in names if n not in fixed] if fixed else None)
    whole = subject if not derivative else (subject, *derivative)
    reports = []
    for point in points:
        args = [point[n] for n in names]
        reports.append(
            check(whole, *args, names=names, name=out.case.name, seed=wish.seed, **told)
        )
    labels = [_where(p, k) if len(points) > 1 else "" for k, p in enumerate(points)]
    out.report = joined(out.case.name, reports, labels)


def _where(point: Mapping[str, Any], k: int) -> str:
    """A point in few words."""
    told = [f"{n} = {v:.4g}" for n, v in point.items() if isinstance(v, (float, complex))]
    return f"at {', '.join(told)}" if len(told) == len(point) <= 4 else f"at point {k + 1}"


def _is_code(subject: Any, derivative: Any) -> bool:
    return callable(subject) and all(
        callable(d) or isinstance(d, np.ndarray) for d in derivative or ()
    )


def _points(
    names: Sequence[str],
    shapes: Mapping[str, Any],
    assume: Any,
    given: Mapping[str, Any],
    seed: int,
) -> list[dict[str, Any]]:
    """The point that is given, or random ones where it leaves something open."""
    sizes = {n: np.shape(given[n]) if n in given else shapes.get(n, ()) for n in names}
    if all(n in given for n in names):
        return [{n: given[n] for n in names}]
    return draw_points(sizes, assume, given, POINTS, seed)
