"""PyTorch: the tape with forward_ad, and the function transformations."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from .backend import Backend, numbers


def numpy_of(torch: Any) -> SimpleNamespace:
    """NumPy's names in PyTorch, those that the workloads use."""

    def reducing(function: Callable) -> Callable:
        def reduce(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
            return function(x) if axis is None else function(x, dim=axis, keepdim=keepdims)

        return reduce

    same = "sin cos exp log tanh sqrt matmul swapaxes diagonal linalg".split()
    return SimpleNamespace(
        **{name: getattr(torch, name) for name in same},
        sum=reducing(torch.sum),
        max=reducing(torch.amax),
        concatenate=lambda parts, axis=0: torch.cat(parts, dim=axis),
        stack=lambda parts, axis=0: torch.stack(parts, dim=axis),
    )


class Torch(Backend):
    """The tape, `requires_grad` and `torch.autograd`; forward mode by `forward_ad`."""

    name = package = "torch"
    imports = "import torch"
    gradient = "x = torch.ones(3, requires_grad=True); torch.sum(torch.sin(x) * x).backward()"

    def __init__(self) -> None:
        import torch
        from torch.autograd import forward_ad, functional

        torch.set_num_threads(1)
        self.torch, self.forward, self.functional = torch, forward_ad, functional
        self.xp = numpy_of(torch)

    def array(self, x: Any) -> Any:
        return self.torch.tensor(np.asarray(x))

    def plain(self, x: Any) -> np.ndarray:
        return x.detach().numpy()

    def leaves(self, x: tuple) -> tuple:
        return tuple(v.clone().requires_grad_() for v in x)

    def along(self, f: Callable, x: tuple, t: tuple) -> tuple:
        with self.forward.dual_level():
            y = f(*map(self.forward.make_dual, x, t))
            return tuple(self.forward.unpack_dual(y))

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return lambda: self.along(f, x, t)[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        leaves = self.leaves(x)
        return lambda: self.torch.autograd.grad(f(*leaves), leaves)

    def vag(self, f: Callable, x: tuple) -> Callable:
        leaves = self.leaves(x)

        def run() -> tuple:
            y = f(*leaves)
            return y, self.torch.autograd.grad(y, leaves)

        return run

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        leaves = self.leaves(x)

        def run() -> tuple:
            gradient = self.torch.autograd.grad(f(*leaves), leaves, create_graph=True)
            return self.torch.autograd.grad(gradient, leaves, t)

        return run

    def hess(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.functional.hessian(f, x[0], vectorize=True)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.functional.jacobian(f, x[0], vectorize=True, strategy="forward-mode")

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.functional.jacobian(f, x[0], vectorize=True)

    def jac2(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.functional.jacobian(f, x, vectorize=True)

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        each = list(zip(*t, strict=True))
        return lambda: self.torch.stack([self.along(f, x, v)[1] for v in each])

    def slopes(self, f: Callable) -> Callable:
        tensor, units = self.torch.from_numpy, self.torch.eye(3, dtype=self.torch.float64)

        def rhs(y: np.ndarray, p: np.ndarray, s: np.ndarray) -> tuple:
            at = tensor(y), tensor(p)
            found = [self.along(f, at, v) for v in zip(tensor(s), units, strict=True)]
            return found[0][0].numpy(), np.stack([moved.numpy() for _, moved in found])

        return rhs


class TorchFunc(Torch):
    """The function transformations, `torch.func`."""

    name = "torch.func"
    imports = gradient = ""
    skips = ("radau_robertson", "rk45_brusselator", "chain_1e5", ("lstm_256", "jvp"))

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return lambda: self.torch.func.jvp(f, x, t)[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.torch.func.grad(f, argnums=numbers(x))
        return lambda: g(*x)

    def vag(self, f: Callable, x: tuple) -> Callable:
        g = self.torch.func.grad_and_value(f, argnums=numbers(x))
        return lambda: g(*x)[::-1]

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        g = self.torch.func.grad(f)
        return lambda: self.torch.func.jvp(g, x, t)[1]

    def hess(self, f: Callable, x: tuple) -> Callable:
        h = self.torch.func.hessian(f)
        return lambda: h(*x)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        j = self.torch.func.jacfwd(f, argnums=numbers(x))
        return lambda: j(*x)

    jac2 = jacfwd

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        j = self.torch.func.jacrev(f)
        return lambda: j(*x)

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        push = self.torch.func.vmap(lambda *v: self.torch.func.jvp(f, x, v)[1])
        return lambda: push(*t)
