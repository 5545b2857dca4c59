"""Dense Jacobians."""

from collections.abc import Callable
from typing import Any

from .workload import rng, workload


def dense(inputs: int, outputs: int) -> Callable:
    def make(xp: Any, constant: Callable) -> Callable:
        a, b = (
            constant(rng(seed).normal(0.0, inputs**-0.5, (outputs, inputs))) for seed in (16, 17)
        )

        def f(x: Any) -> Any:
            return xp.sin(xp.matmul(a, x)) + xp.matmul(b, x) ** 2

        return f

    return make


for _inputs, _outputs, _targets in (
    (50, 2000, {"jacfwd": 22}),
    (200, 200, {"jacfwd": 50, "jacrev": 60}),
):
    workload(
        f"jacobian_{_inputs}_{_outputs}",
        f"{_outputs} outputs of {_inputs} inputs, two products with matrices",
        lambda n=_inputs: (rng(18).normal(size=n),),
        targets=_targets,
        dominates="Arrays of 200 by 200 (50 by 2000) numbers, which cost a page fault for every "
        "4 kB when they are made. The products of unit tangents, and of their multiples, with the "
        "matrices are not made: they are rows of these, a third of the time.",
        operations=5,
    )(dense(_inputs, _outputs))
