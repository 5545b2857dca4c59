"""The library proves its own rules: every elementwise and composite rule of the registry.

A rule is run on symbols as it stands in the table, and compared with SymPy's derivative of the
function that it belongs to. Where a rule has another domain than all real numbers it is said here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..engine.primitive import PRIMITIVES, Composite, Elementwise
from ..errors import ArgumentError
from ..symbolic.errors import NotSymbolicError
from ..symbolic.extra import symbolic_extra
from .proof import UNDECIDED, Proof

if TYPE_CHECKING:
    from .region import Region

__all__ = ["RuleProof", "Rules", "prove_all", "prove_rule"]


@dataclass(frozen=True)
class Setting:
    """Where and how a rule is proved: assumptions, shapes of its arrays, its parameters."""

    assume: tuple[str, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    params: dict[str, Any] = field(default_factory=dict)


def on(*assume: str) -> Setting:
    return Setting(assume)


def of(*shapes: Any, assume: tuple[str, ...] = (), **params: Any) -> Setting:
    return Setting(assume, tuple((s,) if isinstance(s, int) else s for s in shapes), params)


# fmt: off
#: The setting of a rule that is not claimed for all real numbers, or takes arrays.
SETTINGS: dict[str, Setting] = {
    "divide":           on("y != 0"),
    "power":            on("x > 0"),
    "float_power":      on("x > 0"),
    "polynomial_power": on("y integer", "y >= 1"),
    "complex_power":    on("x > 0"),
    "reciprocal":       on("x != 0"),
    "sqrt":             on("x > 0"),
    "cbrt":             on("x != 0"),
    "remainder":        on("y != 0"),
    "fmod":             on("y != 0"),
    "log":              on("x > 0"),
    "log2":             on("x > 0"),
    "log10":            on("x > 0"),
    "log1p":            on("x > -1"),
    "arcsin":           on("-1 < x < 1"),
    "arccos":           on("-1 < x < 1"),
    "arccosh":          on("x > 1"),
    "arctanh":          on("-1 < x < 1"),
    "complex_arcsin":   on("-1 < x < 1"),
    "complex_arccos":   on("-1 < x < 1"),
    "complex_arccosh":  on("x > 1"),
    "copysign":         on("x != 0", "y != 0"),
    "sinc":             on("x > 3/10"),
    "ldexp":            on("y integer"),
    # composite rules, each on small arrays
    "det":              of((2, 2)),
    "slogdet":          of((2, 2)),
    "inv":              of((2, 2)),
    "triangular_inverse": of((2, 2)),
    "cholesky":         of((2, 2), upper=False),
    "logaddexp.reduce": of(3, axis=0),
    "max":              of(2, axes=(0,)),
    "min":              of(2, axes=(0,)),
    "maximum.accumulate": of(2, axis=0),
    "minimum.accumulate": of(2, axis=0),
    "var":              of(3, axes=(0,), divisor=2),
    "length":           of(3, assume=("x > 0",), axes=(0,)),
    "p_norm":           of(2, assume=("x > 0",), axes=(0,), p=3.0),
}
# fmt: on

#: Why a rule cannot be asked for a proof on symbols.
REASONS = {
    "bessel_i": "the series is chosen by the value of the argument",
    "i0": "the series is chosen by the value of the argument",
    "fraction": "SymPy has no counterpart of modf",
    "mantissa": "SymPy has no counterpart of frexp",
    "nextafter": "SymPy has no counterpart of nextafter",
    "prod": "the rule is chosen by the size of the product",
    "cumprod": "the rule is chosen by the size of the products",
    "std": "the rule asks whether the spread is zero",
    "eigh": "eigenvalues have no closed form",
    "eig": "eigenvalues have no closed form",
    "svd": "singular values have no closed form",
    "qr": "the reflections branch on values",
    "poly": "its function is not known on symbols",
    "roots": "the roots of a polynomial have no closed form",
    "pinv": "the rank is decided by values",
    "lstsq": "the rank is decided by values",
    "interp": "the interval is searched for by values",
}


@dataclass(frozen=True)
class RuleProof:
    """What was found about one rule of the registry.

    Attributes:
        name, family: of the primitive.
        domain: where the rule was proved, in words.
        proof: the proof; None where the rule cannot be run on symbols.
        reason: why there is none.
    """

    name: str
    family: str
    domain: str
    proof: Proof | None
    reason: str = ""

    @property
    def verdict(self) -> str:
        """proved, refuted or undecided."""
        return UNDECIDED if self.proof is None else self.proof.verdict

    @property
    def because(self) -> str:
        """How it was proved, the counterexample, or why neither was possible."""
        if self.proof is None:
            return self.reason
        worst = [e for e in self.proof.entries if e.verdict == self.verdict]
        if self.proof:
            return ", ".join(dict.fromkeys(s.rpartition(": ")[2] for e in worst for s in e.steps))
        return worst[0].because


class Rules:
    """The verdicts on all rules; true if none is refuted."""

    def __init__(self, rules: Iterable[RuleProof]):
        self.rules = {r.name: r for r in rules}

    def __iter__(self) -> Iterator[RuleProof]:
        return iter(self.rules.values())

    def __getitem__(self, name: str) -> RuleProof:
        return self.rules[name]

    def __bool__(self) -> bool:
        return self.count("refuted") == 0

    def count(self, verdict: str) -> int:
        """How many rules have this verdict."""
        return sum(r.verdict == verdict for r in self)

    def markdown(self) -> str:
        """The verdicts as a table for a page."""
        lines = ["| rule | family | verdict | domain | how, or why not | kinks |"]
        lines.append("| --- | --- | --- | --- | --- | --- |")
        for r in self:
            kinks = () if r.proof is None else r.proof.kinks
            cells = (f"`{r.name}`", r.family, r.verdict, r.domain, r.because)
            text = "; ".join(map(str, kinks)) or "none"
            lines.append("| " + " | ".join(_cell(c) for c in (*cells, text)) + " |")
        return "\n".join(lines)

    def table(self) -> str:
        """The verdicts as text."""
        width = max(len(r.name) for r in self)
        lines = [f"{r.name:<{width}}  {r.verdict:<9}  {r.domain}: {r.because}" for r in self]
        return "\n".join([*lines, self.summary()])

    def summary(self) -> str:
        """How many rules have which verdict."""
        counts = ", ".join(f"{self.count(v)} {v}" for v in ("proved", "undecided", "refuted"))
        return f"{len(self.rules)} rules: {counts}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def prove_all(names: Iterable[str] | None = None, *, limit: float = 10.0, seed: int = 0) -> Rules:
    """Prove every elementwise and composite rule of this library on symbols.

    Args:
        names: the rules, by the names of their primitives; default all.
        limit: seconds for one entry.
        seed: of the random points.

    Raises:
        ArgumentError: there is no such rule.
        MissingExtraError: SymPy is not installed.

    >>> print(prove_all(["tanh", "hypot"]).table())
    tanh   proved     all real numbers: identical
    hypot  proved     all real numbers: identical
    2 rules: 2 proved, 0 undecided, 0 refuted
    """
    symbolic_extra()
    known = [
        n
        for n, p in PRIMITIVES.items()
        if isinstance(p, (Elementwise, Composite)) and not n.startswith("scipy.")
    ]
    wanted = known if names is None else list(names)
    if unknown := [n for n in wanted if n not in known]:
        raise ArgumentError(f"there is no elementwise or composite rule named {unknown[0]!r}")
    return Rules(prove_rule(PRIMITIVES[n], limit, seed) for n in wanted)


def prove_rule(primitive: Any, limit: float = 10.0, seed: int = 0) -> RuleProof:
    """Prove the rule of one primitive, which need not be in the registry."""
    from .deadline import Deadline, OutOfTime
    from .decide import decide
    from .kinks import kinks_of

    setting = SETTINGS.get(primitive.name, Setting())
    family = primitive.family
    domain = ", ".join(setting.assume) or "all real numbers"
    if setting.shapes:
        shown = ", ".join("×".join(map(str, s)) for s in setting.shapes)
        domain = f"shape {shown}" + (f", {domain}" if setting.assume else "")
    if primitive.name in REASONS:
        return RuleProof(primitive.name, family, domain, None, REASONS[primitive.name])
    try:
        with Deadline(3 * limit):
            region, claims, values = _claims(primitive, setting)
        entries = tuple(decide(c, region, limit, seed) for c in claims)
        kinks = kinks_of((e for v in values.values() for e in v.ravel()), region)
    except NotSymbolicError as e:
        return RuleProof(primitive.name, family, domain, None, str(e).partition(":")[0])
    except OutOfTime:
        reason = f"running it on symbols took more than {3 * limit:g} s"
        return RuleProof(primitive.name, family, domain, None, reason)
    return RuleProof(
        primitive.name, family, domain, Proof(primitive.name, entries, kinks, setting.assume)
    )


def _claims(primitive: Any, setting: Setting) -> tuple[Region, list[Any], Any]:
    from .region import Region

    if isinstance(primitive, Elementwise):
        shapes = dict.fromkeys("xyz"[: len(primitive.partials)], ())
        region = Region(shapes, setting.assume)
        return region, *_partials(primitive, region)
    if not setting.shapes:
        raise NotSymbolicError("no setting is stated for it: it is not run on symbols")
    region = Region(dict(zip("xyz", setting.shapes, strict=False)), setting.assume)
    return region, *_composite(primitive, setting, region)


def _partials(primitive: Elementwise, region: Region) -> tuple[list[Any], Any]:
    """Each partial, as it stands in the table, on symbols."""
    from .claims import derivative_claims, fresh, outputs

    args = [fresh(v.array) for v in region.variables]
    out = primitive.impl(*args)
    values = outputs(out)
    stated = [
        (v, p.value(out, *args))
        for v, p in zip(region.variables, primitive.partials, strict=True)
        if p.text is not None or p.constant is None
    ]
    live = [(v, d) for v, d in stated if not v.integer]
    return list(derivative_claims([v for v, _ in live], values, [d for _, d in live])), values


def _composite(primitive: Composite, setting: Setting, region: Region) -> tuple[list[Any], Any]:
    """The rule with tangents that are symbols."""
    from .claims import fresh, jvp_claims, outputs

    args = [fresh(v.array) for v in region.variables]
    result = primitive.impl(*args, **setting.params)

    def rule(tangents: list[Any]) -> Any:
        moves = tuple(map(fresh, tangents))
        out = primitive.impl(*args, **setting.params)
        moved = primitive.rule(moves, out, tuple(args), setting.params)
        if isinstance(out, tuple):
            moved = tuple(0 * o if m is None else m for m, o in zip(moved, out, strict=True))
        return outputs(moved)

    values = outputs(result)
    return list(jvp_claims(region.variables, values, rule)), values
