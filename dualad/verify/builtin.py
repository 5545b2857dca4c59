"""The library proves its own rules: every elementwise, linear and composite rule.

A rule is run on symbols as it stands in the table, and compared with SymPy's derivative of the
function that it belongs to.
"""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

from ..engine.primitives.composite import Composite
from ..engine.primitives.elementwise import Elementwise
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import PRIMITIVES
from ..errors import ArgumentError, DualADError, MissingRuleError
from ..ops.later import load_all
from ..symbolic.errors import NotSymbolicError, SymbolicBranchError
from ..symbolic.extra import symbolic_extra
from .proof import UNDECIDED, Entry, Proof
from .rule_proofs import RuleProof, Rules
from .settings import REASONS, SETTINGS, Setting

if TYPE_CHECKING:
    from .region import Region

__all__ = ["prove_all", "prove_rule"]


def prove_all(
    names: Iterable[str] | None = None,
    *,
    limit: float = 10.0,
    seed: int = 0,
    jobs: int = 1,
    done: Callable[[str], object] | None = None,
) -> Rules:
    """Prove every elementwise, linear and composite rule of this library on symbols.

    SciPy's special functions are among them as far as SymPy knows them.

    Args:
        names: the rules, by the names of their primitives; default all.
        limit: seconds for one entry.
        seed: of the random points.
        jobs: how many processes share the work.
        done: is called with the name of each rule when its verdict is there, in order.

    Raises:
        ArgumentError: there is no such rule.
        MissingExtraError: SymPy is not installed.

    >>> print(prove_all(["sinh", "hypot"]).table())
    sinh   proved     all real numbers: identical
    hypot  proved     all real numbers: identical
    2 rules: 2 proved, 0 undecided, 0 refuted
    """
    symbolic_extra()
    known = rules()
    wanted = list(known) if names is None else list(names)
    if unknown := [n for n in wanted if n not in known]:
        raise ArgumentError(
            f"there is no elementwise, linear or composite rule named {unknown[0]!r}"
        )
    if jobs == 1:
        return Rules(_telling((prove_rule(known[n], limit, seed) for n in wanted), done))
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        prove = functools.partial(_prove_named, limit=limit, seed=seed)
        return Rules(_telling(pool.map(prove, wanted), done))


def _telling(
    proofs: Iterable[RuleProof], done: Callable[[str], object] | None
) -> Iterator[RuleProof]:
    for p in proofs:
        if done is not None:
            done(p.name)
        yield p


def _prove_named(name: str, limit: float, seed: int) -> RuleProof:
    return prove_rule(rules()[name], limit, seed)


def rules() -> dict[str, Any]:
    """Every rule that `prove_all` speaks of: NumPy's by the name of their primitive, and SciPy's.

    SciPy's are those of the ufuncs of scipy.special, as far as SymPy knows the function.
    """
    load_all()
    found: dict[str, Any] = {
        n: p
        for n, p in PRIMITIVES.items()
        if isinstance(p, (Elementwise, Linear, Composite)) and not n.startswith("scipy.")
    }
    return found | {p.name: p for p in _special_rules() if p.name not in found}


def _special_rules() -> list[Any]:
    from ..ops import special  # noqa: F401  (fills the table)
    from ..ops.special.table import SPECIAL
    from ..symbolic.entries import ENTRIES
    from ..symbolic.special import SEVERAL

    stated = [(n, p) for n, p in SPECIAL.items() if isinstance(p, (Elementwise, Composite))]
    return [p for n, p in stated if n in ENTRIES or n in SEVERAL]


def prove_rule(primitive: Any, limit: float = 10.0, seed: int = 0) -> RuleProof:
    """Prove the rule of one primitive, which need not be in the registry."""
    from .decide import decide
    from .kinks import kinks_of

    setting = SETTINGS.get(primitive.name, Setting())
    about = primitive.name, primitive.family, setting.domain()
    if primitive.name in REASONS:
        return RuleProof(*about, None, REASONS[primitive.name])
    if isinstance(primitive, Linear):
        return _prove_linear(primitive, limit, seed)
    try:
        region, claims, unknown, values = _run(primitive, setting, limit)
    except DualADError as e:
        return RuleProof(*about, None, _why(e))
    entries = (*(decide(c, region, limit, seed) for c in claims), *unknown)
    kinks = kinks_of(values, region, entries)
    return RuleProof(*about, Proof(primitive.name, entries, kinks, setting.assume))


def _prove_linear(primitive: Linear, limit: float, seed: int) -> RuleProof:
    """That an operation is linear, and its transposes are right, for the shapes that are run."""
    from .linear import linear_entries
    from .linear_calls import CALLS

    calls = CALLS.get(primitive.name, [])
    if not calls:
        return RuleProof(primitive.name, "linear", "", None, "no call of it is stated")
    domain = f"shapes {', '.join(dict.fromkeys(c.shown() for c in calls))}"
    entries = tuple(linear_entries(primitive, calls, limit, seed))
    return RuleProof(primitive.name, "linear", domain, Proof(primitive.name, entries))


def _why(error: DualADError) -> str:
    """Why a rule did not run on symbols."""
    if isinstance(error, SymbolicBranchError):
        return "the rule looks at the values of its arguments"
    if isinstance(error, NotSymbolicError):
        return str(error).partition(":")[0]
    return "the rule computes with numbers"


def _run(
    primitive: Any, setting: Setting, limit: float
) -> tuple[Any, list[Any], list[Entry], Any]:
    """(region, claims, entries that symbols cannot reach, values) of a rule run on symbols."""
    from .deadline import Deadline, OutOfTime

    try:
        with Deadline(3 * limit):
            return _claims(primitive, setting)
    except OutOfTime:
        message = f"running it on symbols took more than {3 * limit:g} s"
        raise NotSymbolicError(message) from None


def _claims(primitive: Any, setting: Setting) -> tuple[Region, list[Any], list[Entry], Any]:
    from .region import Region

    if setting.shapes:
        region = Region(dict(zip("xyz", setting.shapes, strict=False)), setting.assume)
        claims, values = _composite(primitive, setting, region)
        return region, claims, [], values
    if isinstance(primitive, Elementwise):
        region = Region(dict.fromkeys("xyzw"[: len(primitive.partials)], ()), setting.assume)
        return region, *_partials(primitive, region)
    if not primitive.name.startswith("scipy.special"):
        raise NotSymbolicError("no setting is stated for it: it is not run on symbols")
    region = Region({"x": ()}, setting.assume)
    claims, values = _composite(primitive, setting, region)
    return region, claims, [], values


def _partials(primitive: Elementwise, region: Region) -> tuple[list[Any], list[Entry], Any]:
    """Each partial, as it stands in the table, on symbols."""
    from .claims import derivative_claims, fresh, outputs

    args = [fresh(v.array) for v in region.variables]
    out = primitive.impl(*args)
    values = outputs(out)
    claims: list[Any] = []
    unknown: list[Entry] = []
    for v, p in zip(region.variables, primitive.partials, strict=True):
        if v.integer or (p.text is None and p.constant is not None):
            continue
        try:
            claims += derivative_claims([v], values, [p.value(out, *args)])
        except MissingRuleError:
            continue  # it has no derivative in this argument, and says so
        except DualADError as e:
            why = _why(e)
            unknown.append(Entry("out", v.name, UNDECIDED, p.text, None, reason=why))
    return claims, unknown, values


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
