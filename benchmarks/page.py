"""The page of the documentation, from a run."""

from collections.abc import Sequence
from typing import Any

from .costs import COSTS
from .fused_targets import FUSED_REASONS
from .table import everyone, fused_verdicts, markdown, verdicts
from .verdict import Row, fused_rows_of, number, rows_of, summary
from .workloads import JOBS, WORKLOADS

__all__ = ["page"]

PAGE = """# Performance

What a derivative costs, in evaluations of the function itself (unit f): 3.0 means as much time as
three plain NumPy evaluations of `f` with the same arguments. Lower is better. In this run dualad
is {summary}. This page is written by

    python -m benchmarks --page docs/performance.md

{verdicts}

*Ahead*, *level* (within 3 %) and *behind* compare with the best peer that runs the user's Python
at each call: autograd, PyTorch, JAX without `jit`; *met* and *missed* with the target, which was
set beforehand from what the peers and derivatives written by hand reach. *Alone* is a row that no
peer did.

- Jobs: {jobs}.
{workloads}

## Rows that are lost

{lost}

## Compiled

The same jobs as programs of `dualad.compile` ([compiling](compile.md)): on NumPy alone, and as
machine code with the extra `jit`. Here the peers are all of them, those that compile among them:
JAX with `jit`, `torch.compile`, CasADi. dualad is {fused_summary}.
Compiled loops of thousands of steps are left out for JAX, whose compiler takes minutes for them.
The argument of `logdet_solve_200` differs by a rounding from that of the last call: a program,
whose workspace stays where it was, would find the factors of that one.

{fused}

{fused_lost}

## Every peer

{everyone}

A dash is a job that the library does not offer, or that would take minutes. CasADi builds a graph
once and runs that; num-dual has numbers of its own and no arrays: they decide no verdict.
{failures}

## How it is measured

- Each job is timed in the same process and in the same round as the plain NumPy evaluation of
  `f`; the figure is the median over rounds of their ratio. CPU time of the process, one thread,
  float64. A job of a second or more gets one round.
- Peers get their inputs converted beforehand and their outputs are not converted back, which
  favours those that do not work on NumPy arrays; in the two integrations they convert at every
  step, as a user has to. `torch` is `requires_grad` with `torch.autograd`, and `forward_ad`;
  `torch.func` its function transformations. What compiles the function first is faster on small
  operations by orders of magnitude: no library that runs the user's Python can follow there.
- All figures of this page are from one run. Every result of a peer was compared with that of
  dualad: the largest difference was {error:.0e} of the largest entry{but}.
- Memory of a recorded operation is what Python allocates, for PyTorch the rise of resident memory;
  peaks are the rise of resident memory during one call.
- Imports are those of a fresh interpreter, beyond NumPy's, CPU time, the best of several.
- All libraries are loaded in one process. Before each job `gc.freeze` keeps Python's garbage
  collector from scanning what they have loaded: a program that holds millions of objects pays for
  its collector in long recordings.
- Two runs on one machine differ by 10 to 20 %, by more where other work shares the cores (see
  the load below); treat smaller differences as none. `--compare` names what became slower since
  the run that is stored beside the benchmarks.

## What an operation costs

{costs}

Microseconds: of a transformation around a function that does nothing, and of one operation more
inside of it, on ten numbers. The figures explain the table above, and say what a change of the
engine may cost.

- An elementwise operation runs generated code: one look at the type of each operand, NumPy's own
  call for the value and one or two for the tangent, one object for the result. In reverse mode
  it is one tuple on the tape and one call in the sweep. Nothing else may happen there: a further
  attribute look-up on this path is 3 % of every program of small operations.
- Slices, single entries, `np.stack` of numbers and `np.concatenate` of vectors have paths of their
  own. All other operations go through the general one: arguments are normalised as NumPy
  normalises them, the primitive asks for the highest level among its arguments, and what the
  transpose reads is written down by shape and dtype. That is 4 to 15 microseconds, whatever the
  size of the arrays.
- Many tangents of one value (a Jacobian, a Hessian, `jvp` under `vmap`) lie in one array: an
  operation is one on the value and two or three on that array. What is not plain float64 falls
  back to a dual whose tangent is batched, two dispatches an operation.
- A composite rule is run again for every tangent, and traced and transposed for every cotangent:
  20 to 90 microseconds. A function that is called in a loop deserves better: `dualad.custom_jvp`
  with linear operations alone, or a rule in `ops/`. There a rule that is one linear operation
  after the other can be stated as that, a `Chain` of `engine/primitives/chain.py`, as those of
  linear algebra are: it is transposed without a trace, which takes half of the time.
- From 32768 entries on (256 kB), value and tangent of elementwise operations are computed together
  on blocks that stay in the cache, and neighbouring operations are swept together, block by block;
  cotangents are added in place where nobody else holds them, and summed over short axes by a
  product with ones. Below that, an operation costs what its calls cost.
- From 131072 entries on (1 MB), operations on stacks of small arrays are swept some entries of the
  first axis at a time, products of matrices and operands that broadcast among them. Of a cotangent
  that is summed over an axis in the end, as that of `points - centre[:, None, :]` is where the
  centres alone move, no more than the sum is computed: what lies between, where it treats all rows
  alike, is computed of sums too.
- Fresh memory costs more than what is written into it: the kernel hands it out page by page. The
  memory of large values goes back to a pool when the last array on it is gone, 32 MB at most
  between calls (`dualad.engine.arrays.memory.POOL.shrink()` gives it back). Peaks of memory are
  measured from an empty pool.
- A large constant that a rule reads is copied at each call, because the function might write into
  it later. One that nobody can write to (`rows.flags.writeable = False`) is not; nor is, in `grad`
  and `value_and_grad`, one that a matrix product takes, as the rows that weights multiply, where
  the source of the function shows that it writes into nothing: it gives arrays and numbers to
  operators, to NumPy's functions and arrays' methods that only read, and to functions of the same
  kind. Then what the sweep has read of large arrays is let go as well. An assignment to an entry,
  `+=`, `out=`, an object of another class, or a function that is not known, and all is kept.
- `vjp` and `linearize` copy those large arguments that a rule reads, so that a later write to the
  argument cannot reach the derivative; `grad` and `jvp` copy nothing.

## Where this was measured

{where}
"""


def page(run: dict[str, Any]) -> str:
    """The run as a page of the documentation."""
    rows, fused = rows_of(run), fused_rows_of(run)
    names = [n for n in dict.fromkeys(r.workload for r in rows) if n in WORKLOADS]
    loosest = max(run["results"], key=lambda r: r.get("error", 0.0) * (r["job"] != "ivp"))
    return PAGE.format(
        summary=summary(rows),
        verdicts=markdown(verdicts(rows)),
        jobs="; ".join(f"`{job}` {about}" for job, about in JOBS.items()),
        workloads="\n".join(f"- `{n}`: {WORKLOADS[n].about}." for n in names),
        lost=lost(rows),
        fused=markdown(fused_verdicts(fused)),
        fused_summary=summary(fused),
        fused_lost=fused_lost(fused),
        everyone=markdown(everyone(rows)),
        failures=failures(run),
        error=loosest.get("error", 0.0),
        but=integrated(run),
        costs=cost_table(run.get("costs", {})),
        where=where(run["machine"]),
    )


def lost(rows: list[Row]) -> str:
    """The rows behind a peer or a target, those with one reason together, and that reason."""
    groups: dict[str, dict[str, list[Row]]] = {}
    for r in rows:
        if r.lost:
            groups.setdefault(reason(r), {}).setdefault(r.workload, []).append(r)
    lines = []
    for why, workloads in groups.items():
        named = "; ".join(
            f"`{name}` "
            + ", ".join(f"{r.job} {number(r.ours)} {r.unit} ({r.verdict})" for r in of)
            for name, of in workloads.items()
        )
        lines.append(f"- {named}. {why}".rstrip())
    return "\n".join(lines) or "None in this run."


def fused_lost(rows: Sequence[Row]) -> str:
    """What dominates the rows of compiled programs that are behind a peer or a target."""
    lines = [
        f"- `{r.workload}` {r.job}: {r.verdict}. {FUSED_REASONS.get(r.workload, '')}".rstrip()
        for r in rows
        if r.lost
    ]
    return "\n".join(lines)


def reason(row: Row) -> str:
    """What dominates the time, or the memory, of a row."""
    known = WORKLOADS.get(row.workload)
    return known.dominates if known else OTHERWISE.get(row.workload, "")


OTHERWISE = {
    "start": (
        "An import is 120 files of one purpose each, and 0.1 ms for each of them; an eighth is "
        "Python's garbage collector, which looks through NumPy meanwhile. They are the engine and "
        "the tables of formulas, which the first call of each operation prepares its rule from; "
        "tensors, PyTorch's names, SciPy, rules for it, and everything optional waits until it is "
        "used. Of the first gradient a third is what NumPy "
        "itself takes the first time that it adds up or multiplies, the rest is Python code that "
        "runs for the first time: 0.05 ms for each operation that is new, in ours as in a peer's. "
        "A function of its own is written for an operation when it is called for the hundredth "
        "time; to write and compile that costs 0.2 to 1.5 ms, as much as hundreds of calls save."
    ),
    "memory": (
        "Values are held that the sweep will read; a rise of a few megabytes is at the grain of "
        "the allocator."
    ),
}


def failures(run: dict[str, Any]) -> str:
    """What peers said where they failed."""
    failed = [r for r in run["results"] if r.get("failure")]
    return "\n".join(
        f"\n- {r['backend']} fails on `{r['workload']}` {r['job']}: {r['failure']}" for r in failed
    )


def integrated(run: dict[str, Any]) -> str:
    """How far the integrations differ: their steps are chosen by the error that they estimate."""
    errors = [r.get("error", 0.0) for r in run["results"] if r["job"] == "ivp"]
    return f", after an integration {max(errors):.0e}" if errors else ""


def cost_table(found: dict[str, list[float]]) -> str:
    """The cost of each kind of operation, as a table of the page."""
    lines = ["| | " + " | ".join(COSTS) + " |", "| --- |" + " ---: |" * len(COSTS)]
    lines += [f"| {name} | " + " | ".join(map(number, v)) + " |" for name, v in found.items()]
    return "\n".join(lines)


def where(meta: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in meta["versions"].items())
    return "\n".join(
        [
            f"- {meta['processor']}, {meta['cores']} cores, {meta['system']}, {meta['date']}; "
            f"load average {meta['load']} at the end of the run",
            f"- Python {meta['python']}, NumPy {meta['numpy']}, {versions}",
        ]
    )
