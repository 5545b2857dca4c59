"""Write docs/vector-mathematics.md: the errors of compiled loops against mpmath. Needs numba."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "compiling" / "mathematics"))

from test_ulp import SAMPLES, worst  # noqa: E402

from dualad.compiling.mathematics.registry import FUNCTIONS  # noqa: E402

TEXT = """# Vector mathematics

What compiled loops compute `exp`, `sin` and their kin by, where the extra `jit` is installed. Made
by `python docs/generate_mathematics.py`.

The mathematical library of a system is called for one number at a time, and a loop with a call in
it stays a loop over single numbers. So a compiled loop over arrays has these functions written out
as straight-line arithmetic, which becomes vector instructions. What is short or a scalar calls
the system's library, which answers sooner for one number.

- Errors are in units in the last place of the exact result, over the whole range: subnormal
  numbers, the edges of overflow and underflow, neighbours of the points where a reduction changes
  its step. Correct rounding would be 0.5. The third column is the largest error against mpmath on
  the samples of `tests/compiling/mathematics/test_ulp.py`, ten times over.
- Infinities, NaN and signed zeros give what C99 and NumPy state. No flag of the compiler changes
  that; products and sums are fused only where the formulas say so.
- Sines, cosines and tangents of numbers beyond 2**40 (1.1e12) are the system library's: a vector
  of numbers none of which is as large never calls it.
- float32 is computed in float64 and rounded.
- `power` of small integers is exact. The bound of `logaddexp` is in units of the larger summand,
  for the two may cancel.
- Quotients by a number, and by what several quotients of a loop are divided by, need no division
  of their own: products with an inverse, and one step by the exact remainder, which give bit for
  bit what a division gives. Only where the quotient, or what is divided, is below 1e-290 may the
  last place differ.
- A processor without fused multiply-add gets exact products of halves in their place: slower, with
  the same bounds; quotients are divisions there.

A compiled function may differ from NumPy's in the last place: NumPy has loops of its own, with
other errors. Functions that choose or cut (`maximum`, `floor`, `copysign`) are exact.

The minimax polynomials are printed by `python -m benchmarks.minimax`; each file of
`dualad/compiling/mathematics` says where its method comes from.

| function | error at most | largest found | method |
| --- | ---: | ---: | --- |
"""


def page() -> str:
    """The text and a row for each function that rounds."""
    lines = []
    for name in SAMPLES:
        found = max(worst(name, seed)[0] for seed in range(2, 12))
        function = FUNCTIONS[name]
        lines.append(f"| `{name}` | {function.ulp} | {found:.2f} | {function.source} |\n")
    return TEXT + "".join(lines)


if __name__ == "__main__":
    HERE.joinpath("vector-mathematics.md").write_text(page(), encoding="utf-8")
