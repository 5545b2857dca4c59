"""Symbolic arrays under PyTorch's names give what tensors give."""

import numpy as np
import pytest
import sympy

import dualad
from dualad.symbolic.tensor_face import SymbolicTensor, plain_face, tensor_face
from dualad.symbolic.value import Symbolic, symbolic

NUMBERS = np.array([[0.5, -1.25, 2.0], [3.0, 0.25, -0.75]])

#: Methods of a tensor of shape (2, 3).
METHODS = {
    "exp": lambda t: t.exp(),
    "arithmetic": lambda t: (t * 2 + 1).pow(2).div(3).neg(),
    "sum": lambda t: t.sum(),
    "sum dim": lambda t: t.sum(dim=1, keepdim=True),
    "mean": lambda t: t.mean(0),
    "std": lambda t: t.std(),
    "var": lambda t: t.var(dim=1),
    "norm": lambda t: t.norm(),
    "norm dim": lambda t: t.norm(1, dim=1),
    "prod": lambda t: t.prod(),
    "max": lambda t: t.max(),
    "max dim": lambda t: t.max(dim=1).values,
    "min": lambda t: t.min(0)[0],
    "max of two": lambda t: t.max(-t),
    "sort": lambda t: t.sort(dim=1).values,
    "sort down": lambda t: t.sort(dim=0, descending=True)[0],
    "cumsum": lambda t: t.cumsum(1),
    "softmax": lambda t: t.softmax(1),
    "log_softmax": lambda t: t.log_softmax(0),
    "logsumexp": lambda t: t.logsumexp(1),
    "sigmoid": lambda t: t.sigmoid(),
    "relu": lambda t: t.relu(),
    "clamp": lambda t: t.clamp(-1, 1),
    "lerp": lambda t: t.lerp(-t, 0.25),
    "mm": lambda t: t.mm(t.t()),
    "matmul": lambda t: t @ t.T,
    "view": lambda t: t.view(3, 2),
    "view -1": lambda t: t.view(-1),
    "flatten": lambda t: t.flatten(),
    "permute": lambda t: t.permute(1, 0),
    "transpose": lambda t: t.transpose(0, 1),
    "unsqueeze": lambda t: t.unsqueeze(1).squeeze(1),
    "expand": lambda t: t.unsqueeze(0).expand(2, -1, 3),
    "expand_as": lambda t: t[0].expand_as(t),
    "repeat": lambda t: t.repeat(2, 1),
    "flip": lambda t: t.flip(0),
    "select": lambda t: t.select(1, 2),
    "narrow": lambda t: t.narrow(1, 1, 2),
    "index_select": lambda t: t.index_select(1, dualad.tensor([2, 0])),
    "where": lambda t: t.where(t > 0, -t),
    "masked_fill": lambda t: t.masked_fill(t < 0, 0.0),
    "triu": lambda t: t.triu(),
    "diag": lambda t: t.view(-1).diag(),
    "outer": lambda t: t[0].outer(t[1]),
    "abs": lambda t: t.abs(),
    "sign": lambda t: t.sgn(),
    "reciprocal": lambda t: t.reciprocal(),
    "addcmul": lambda t: t.addcmul(t, t, value=2),
    "maximum": lambda t: t.maximum(-t),
    "atan2": lambda t: t.atan2(1 + t * t),
    "unbind": lambda t: t.unbind(1)[2],
    "in place": lambda t: t.clone().mul_(2).add_(1),
    "fill": lambda t: dualad.zeros_like(t) + t.new_ones(3),
    "any": lambda t: (t > 2.5).any() * 1.0,
    "logical": lambda t: ((t > 0).logical_and(t < 1)) * 1.0,
    "trace": lambda t: t.mm(t.t()).trace(),
    "item": lambda t: t[0, 1].item() * t[1],
    "writing": lambda t: written(t),
}


def written(t):
    out = dualad.zeros_like(t)
    out[0] = t[1]
    out[:, 1] = 2 * t[:, 0]
    return out


@pytest.mark.parametrize("name", METHODS)
def test_a_method(name):
    f = METHODS[name]
    wanted = f(dualad.tensor(NUMBERS))
    exact = np.frompyfunc(lambda v: sympy.Rational(float(v)), 1, 1)(NUMBERS)
    found = f(tensor_face(Symbolic(exact)))
    assert isinstance(found, SymbolicTensor) and found.shape == tuple(wanted.shape)
    numbers = np.frompyfunc(float, 1, 1)(found.entries)
    np.testing.assert_allclose(np.asarray(numbers, float), np.asarray(wanted), rtol=1e-12)


def test_the_face_is_kept_and_given_back():
    x = symbolic(sympy.symbols("a b"))
    t = tensor_face(x)
    assert type(np.sin(t)) is type(t[0]) is type(t.T) is type(2 * t) is SymbolicTensor
    assert type(plain_face((t, [t]))[1][0]) is Symbolic and tensor_face(t) is t
    assert t.size() == (2,) and t.numel() == 2 and t.dim() == 1 and not t.requires_grad
