"""PyTorch's `torch.autograd.functional`: derivatives of functions of tensors at given inputs.

They are the transformations of `dualad.func` under other signatures. The inputs are a tensor or a
tuple of tensors, and so are results. Unless create_graph=True, they have no history. strict=True,
which in PyTorch refuses outputs that do not depend on an input, is not available: such a
derivative is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import func as transforms
from ..errors import ArgumentError, ShapeError
from ..tensor import Tensor, ones_like

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]


def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of the entries of the outputs by those of the inputs.

    Args:
        func: takes the inputs, gives a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: keep the history of the result.
        strict: must be False.
        vectorize: of no effect.
        strategy: "reverse-mode" or "forward-mode".

    Returns:
        For one output and input a tensor of the shape of the output with that of the input
        behind it; else a tuple over outputs, over inputs, or of tuples of both.

    >>> import dualad
    >>> dualad.autograd.functional.jacobian(lambda x: x**2, dualad.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    xs, f = _prepared("jacobian", func, inputs, strict)
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ArgumentError(
            f"jacobian: strategy must be 'reverse-mode' or 'forward-mode', not {strategy!r}"
        )
    transform = transforms.jacrev if strategy == "reverse-mode" else transforms.jacfwd
    return _result(transform(f, _argnums(inputs))(*xs), create_graph)


def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a scalar; for several inputs a tuple of tuples.

    >>> import dualad
    >>> dualad.autograd.functional.hessian(lambda x: (x**3).sum(), dualad.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    xs, f = _prepared("hessian", func, inputs, strict)
    return _result(transforms.hessian(_scalar("hessian", f), _argnums(inputs))(*xs), create_graph)


def vjp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs, and the gradients of the inputs for the cotangents v of the outputs.

    v may be left out where the output is a scalar.
    """
    xs, f = _prepared("vjp", func, inputs, strict)
    outputs, pullback = transforms.vjp(f, *xs)
    gradients = pullback(_direction(v, outputs, "the user-provided function returns"))
    return _pair(outputs, _as_given(gradients, inputs), create_graph)


def jvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs, and their tangents for the tangents v of the inputs.

    v may be left out where the input is a scalar.
    """
    xs, f = _prepared("jvp", func, inputs, strict)
    outputs, tangents = transforms.jvp(f, xs, _along(v, inputs))
    return _pair(outputs, tangents, create_graph)


def hvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """A scalar output, and its Hessian times a vector v like the inputs.

    >>> import dualad
    >>> x, v = dualad.tensor([1.0, 2.0]), dualad.tensor([1.0, 0.0])
    >>> dualad.autograd.functional.hvp(lambda x: (x**3).sum(), x, v)
    (tensor(9.), tensor([6., 0.]))
    """
    xs, f = _prepared("hvp", func, inputs, strict)
    gradient = transforms.grad(_scalar("hvp", f), tuple(range(len(xs))))
    _, products = transforms.jvp(lambda *xs: gradient(*xs), xs, _along(v, inputs))
    return _pair(f(*xs), _as_given(products, inputs), create_graph)


def vhp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """A scalar output, and a vector v times its Hessian, which is symmetric: the same as `hvp`."""
    return hvp(func, inputs, v, create_graph, strict)


# --- inputs and results --------------------------------------------------------------------------


def _prepared(
    name: str, func: Callable[..., Any], inputs: Any, strict: bool
) -> tuple[tuple[Tensor, ...], Callable[..., Any]]:
    """The inputs as a tuple, and the function with its outputs checked."""
    if strict:
        raise ArgumentError(
            f"{name}: strict=True is not available: the derivative of an output that does not "
            "depend on an input is zero"
        )

    def checked(*xs: Tensor) -> Any:
        out = func(*xs)
        _refuse_others(name, "outputs of the user-provided function", out)
        return out

    _refuse_others(name, "inputs", inputs)
    return (inputs if isinstance(inputs, tuple) else (inputs,)), checked


def _refuse_others(name: str, what: str, given: Any) -> None:
    for x in given if isinstance(given, tuple) else (given,):
        if not isinstance(x, Tensor):
            raise ArgumentError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors, not "
                f"{type(given).__name__}" + (f" with {type(x).__name__}" if x is not given else "")
            )


def _scalar(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    def scalar(*xs: Tensor) -> Any:
        out = f(*xs)
        if isinstance(out, tuple) or out.numel() != 1:
            raise ShapeError(
                f"The Tensor returned by the function given to {name} should contain a single "
                "element"
            )
        return out.reshape(())

    return scalar


def _argnums(inputs: Any) -> Any:
    return tuple(range(len(inputs))) if isinstance(inputs, tuple) else 0


def _along(v: Any, inputs: Any) -> tuple[Any, ...]:
    v = _direction(v, inputs, "the input to the user-provided function is")
    return v if isinstance(v, tuple) else (v,)


def _direction(v: Any, like: Any, what: str) -> Any:
    """v, or 1 for a tensor with one entry."""
    if v is not None:
        single = isinstance(v, tuple) and not isinstance(like, tuple) and len(v) == 1
        return v[0] if single else v
    if isinstance(like, tuple) or like.numel() != 1:
        raise ShapeError(
            f"The vector v can only be None if {what} a single Tensor with a single element."
        )
    return ones_like(like)


def _as_given(values: tuple[Any, ...], inputs: Any) -> Any:
    return tuple(values) if isinstance(inputs, tuple) else values[0]


def _pair(outputs: Any, derivatives: Any, create_graph: bool) -> tuple[Any, Any]:
    return _result(outputs, create_graph), _result(derivatives, create_graph)


def _result(x: Any, create_graph: bool) -> Any:
    """A result, without its history unless that is wanted."""
    if isinstance(x, (tuple, list)):
        return tuple([_result(v, create_graph) for v in x])
    return x if create_graph else x.detach()
