"""What a later question about NaN answers as well is not asked before.

A NaN survives sums, products and their like. So where a value has none, those that it was made
from had none either.
"""

from __future__ import annotations

from ...engine.staging.operations import Guard, Operation, Variable
from ..program import Program, is_basic

__all__ = ["keeps_nan", "without_implied_guards", "without_known_shapes"]

#: Operations of which every entry of an operand reaches the result, and a NaN stays one.
KEEPING = frozenset(
    "add subtract multiply divide negative positive square sqrt exp expm1 log log1p log2 log10 "
    "exp2 sin cos tan sinh cosh tanh arctan arcsinh reciprocal absolute conjugate "
    "reshape transpose sum_axes concatenate stack broadcast_to".split()
)


#: Composite operations whose results have shapes that follow from those of the operands.
SHAPED = frozenset(
    "max min gram prod cumprod cholesky solve solve_again triangular_inverse".split()
)


def without_known_shapes(program: Program) -> Program:
    """Without the questions about shapes that do not depend on values."""
    made = {r: s.primitive.name for s in program.operations for r in s.results}
    return program.with_steps(
        [
            s for s in program.steps
            if not (isinstance(s, Guard) and s.question == "shape"
                    and made.get(s.variable) in SHAPED)
        ]
    )  # fmt: skip


def keeps_nan(operation: Operation) -> bool:
    """Whether a NaN in an operand is one in the result, and the operation raises for none."""
    name = operation.primitive.name
    if name == "scatter_add":
        return is_basic(operation.params["index"])
    return (name in KEEPING or name == "add_at_slice") and all(r.size for r in operation.results)


def without_implied_guards(program: Program) -> Program:
    """Without the questions about NaN that a later one answers."""
    answered: set[Variable] = set()
    steps: list[Operation | Guard] = []
    for s in reversed(program.steps):
        if isinstance(s, Guard):
            if s.question == "has_nan" and not s.answer:
                if s.variable in answered:
                    continue
                answered.add(s.variable)
            else:
                answered.clear()  # what comes after it may run otherwise
        elif keeps_nan(s):
            if any(r in answered for r in s.results):
                answered.update([x for x in s.operands if type(x) is Variable])
        elif s.primitive.family not in ("elementwise", "linear"):
            answered.clear()  # it may raise for a NaN
        steps.append(s)
    return program.with_steps(steps[::-1])
