"""Arguments for which a formula does not hold, handed to the system's library.

A call or a branch in a loop keeps a compiler from vectorising it, so the choice is made inside a
function that the compiler knows to have vector variants: `far(x, near)` gives `near` unless |x|
is beyond a bound, and its variants of 2, 4 and 8 lanes compare all lanes at once and are done
when none is far. LLVM's attribute "vector-function-abi-variant" names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .arithmetic import Machine, Real

__all__ = ["far"]

LANES = (2, 4, 8)
PURE = ("nounwind", "readnone")


def far(name: str, bound: float, x: Real, near: Real) -> Real:
    """`near`, or what the library's function gives where |x| > bound."""
    machine = x.machine
    full = f"dualad_far_{name}"
    function = machine.builder.module.globals.get(full) or single(machine, full, name, bound)
    return Real(machine, machine.builder.call(function, [x.value, near.value]))


def single(machine: Machine, full: str, name: str, bound: float) -> Any:
    """The function of one lane; it is never put in place of its call, which has the variants."""
    function, inside = defined(machine, full, 0, ("noinline", *PURE))
    for lanes in LANES:
        several(machine, function, lanes, bound)
    names = ",".join(f"_ZGV_LLVM_N{n}vv_{full}({full}_{n})" for n in LANES)
    # llvmlite knows only attributes without a value; it prints this one as it stands.
    set.add(function.attributes, f'"vector-function-abi-variant"="{names}"')
    x, near = (Real(inside, argument) for argument in function.args)
    with inside.builder.if_then((abs(x) > bound).value, likely=False):
        inside.builder.ret(inside.intrinsic(name, [x.value]))
    inside.builder.ret(near.value)
    return function


def several(machine: Machine, one: Any, lanes: int, bound: float) -> None:
    """A variant: near as a whole, or lane by lane through the function of one lane."""
    ir = machine.ir
    function, inside = defined(machine, f"{one.name}_{lanes}", lanes, PURE)
    builder, index, mask = inside.builder, ir.IntType(32), ir.IntType(lanes)
    x, near = function.args
    slow, done = (function.append_basic_block(name) for name in ("slow", "done"))
    beyond = builder.bitcast((abs(Real(inside, x)) > bound).value, mask)
    builder.cbranch(builder.icmp_unsigned("==", beyond, ir.Constant(mask, 0)), done, slow)
    builder.position_at_end(slow)
    lane, result = builder.phi(index), builder.phi(inside.real)
    pair = [builder.extract_element(argument, lane) for argument in (x, result)]
    filled = builder.insert_element(result, builder.call(one, pair), lane)
    following = builder.add(lane, ir.Constant(index, 1))
    last = builder.icmp_unsigned("==", following, ir.Constant(index, lanes))
    builder.cbranch(last, done, slow)
    builder.position_at_end(done)
    total = builder.phi(inside.real)
    builder.ret(total)
    first = ir.Constant(index, 0)
    for phi, start, step in (
        (lane, first, following),
        (result, near, filled),
        (total, near, filled),
    ):
        phi.add_incoming(start, function.entry_basic_block)
        phi.add_incoming(step, slow)


def defined(
    machine: Machine, name: str, lanes: int, attributes: Sequence[str]
) -> tuple[Any, Machine]:
    """A function of two numbers, which several modules may define (`weak_odr`).

    That linkage also keeps the variants, which nothing calls before a loop is vectorised.
    """
    inside = Machine(machine.ir.IRBuilder(), machine.fused, lanes)
    kind = machine.ir.FunctionType(inside.real, [inside.real] * 2)
    function = machine.ir.Function(machine.builder.module, kind, name)
    function.linkage = "weak_odr"
    for attribute in attributes:
        function.attributes.add(attribute)
    inside.builder.position_at_end(function.append_basic_block("entry"))
    return function, inside
