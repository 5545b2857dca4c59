"""Arguments for which a formula does not hold, handed to the system's library.

A call or a branch in a loop keeps a compiler from vectorising it, so the choice is made inside a
function which the compiler is told to have vector variants: `far_sin(x, near)` gives `near`
unless |x| is beyond a bound, and its variants of 2, 4 and 8 lanes look at all lanes at once and
leave at the first comparison when none is far. The attribute that names them is LLVM's
"vector-function-abi-variant".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from .arithmetic import DOUBLE, Machine, Real

__all__ = ["far"]

LANES = (2, 4, 8)
INDEX = ir.IntType(32)
PURE = ("nounwind", "readnone")


def far(name: str, bound: float, x: Real, near: Real) -> Real:
    """`near`, or what the library's function gives where |x| > bound."""
    machine = x.machine
    function = scalar(machine, name, bound)
    return Real(machine, machine.builder.call(function, [x.value, near.value]))


def scalar(machine: Machine, name: str, bound: float) -> Any:
    """The function of one lane; it is never put in place of its call, which has the variants."""
    module = machine.builder.module
    full = f"dualad_far_{name}"
    if full in module.globals:
        return module.globals[full]
    function = defined(module, full, DOUBLE, 2, ("noinline", *PURE))
    for lanes in LANES:
        vector(machine, function, lanes, bound)
    names = ",".join(f"_ZGV_LLVM_N{n}vv_{full}({full}_{n})" for n in LANES)
    # llvmlite knows the attributes that have no value; it prints this one as it stands.
    set.add(function.attributes, f'"vector-function-abi-variant"="{names}"')
    inside = Machine(ir.IRBuilder(function.append_basic_block("entry")), machine.fused)
    x, near = (Real(inside, argument) for argument in function.args)
    with inside.builder.if_then((abs(x) > bound).value, likely=False):
        inside.builder.ret(inside.intrinsic(name, [x.value]))
    inside.builder.ret(near.value)
    return function


def vector(machine: Machine, one: Any, lanes: int, bound: float) -> None:
    """A variant: near as a whole, or lane by lane through the function of one lane."""
    kind = ir.VectorType(DOUBLE, lanes)
    function = defined(machine.builder.module, f"{one.name}_{lanes}", kind, 2, PURE)
    entry, slow, done = (function.append_basic_block(b) for b in ("entry", "slow", "done"))
    builder = ir.IRBuilder(entry)
    inside = Machine(builder, machine.fused, lanes)
    x, near = function.args
    beyond = builder.bitcast((abs(Real(inside, x)) > bound).value, ir.IntType(lanes))
    none = ir.Constant(ir.IntType(lanes), 0)
    builder.cbranch(builder.icmp_unsigned("==", beyond, none), done, slow)
    builder.position_at_end(slow)
    lane, result = builder.phi(INDEX), builder.phi(kind)
    pair = [builder.extract_element(argument, lane) for argument in (x, result)]
    filled = builder.insert_element(result, builder.call(one, pair), lane)
    following = builder.add(lane, ir.Constant(INDEX, 1))
    for phi, start, step in ((lane, ir.Constant(INDEX, 0), following), (result, near, filled)):
        phi.add_incoming(start, entry)
        phi.add_incoming(step, slow)
    last = builder.icmp_unsigned("==", following, ir.Constant(INDEX, lanes))
    builder.cbranch(last, done, slow)
    builder.position_at_end(done)
    total = builder.phi(kind)
    total.add_incoming(near, entry)
    total.add_incoming(filled, slow)
    builder.ret(total)


def defined(module: Any, name: str, kind: Any, count: int, attributes: Sequence[str]) -> Any:
    """A function that several modules may define, and that stays though nothing calls it yet."""
    function = ir.Function(module, ir.FunctionType(kind, [kind] * count), name)
    function.linkage = "weak_odr"
    for attribute in attributes:
        function.attributes.add(attribute)
    return function
