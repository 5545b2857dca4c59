"""What a tensor is, how its numbers leave it, how it prints and copies."""

import copy
import pickle

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd.forward_ad import dual_level, make_dual


def test_what_is_known_of_it():
    x = t([[1.0, 2.0, 3.0]])
    assert x.shape == x.size() == (1, 3) and x.size(1) == 3 and len(x) == 1
    assert x.ndim == x.dim() == x.ndimension() == 2 and x.numel() == x.nelement() == 3
    assert x.is_floating_point() and not x.is_complex() and x.dtype == dualad.float64
    assert x.is_contiguous() and not t(np.ones((2, 3))).t().is_contiguous()
    with pytest.raises(TypeError):
        len(t(1.0))


def test_numbers():
    x = t(2.5, True)
    assert x.item() == float(x) == x.tolist() == 2.5 and int(x) == 2 and complex(x) == 2.5
    assert t([1.0]).item() == 1.0 and bool(t(1.0)) and [10, 20][dualad.tensor(1)] == 20
    assert f"{x:.2f}" == "2.50"
    for wrong in (lambda: t([1.0, 2.0]).item(), lambda: bool(t([1.0, 2.0]))):
        with pytest.raises(RuntimeError):
            wrong()
    with pytest.raises(TypeError):
        [1, 2][t(1.0)]


def test_how_it_prints():
    assert repr(dualad.tensor([1.0, 2.0])) == "tensor([1., 2.])"
    assert repr(t(1.0)) == "tensor(1., dtype=float64)"
    assert repr(dualad.tensor(1.0, requires_grad=True)) == "tensor(1., requires_grad=True)"
    assert repr(dualad.tensor(1.0, requires_grad=True) * 2) == "tensor(2., grad_fn=<multiply>)"
    with dual_level():
        d = make_dual(dualad.tensor(1.0), dualad.tensor(2.0))
        assert repr(d) == "tensor(1., tangent=2.)"
    assert repr(d) == "tensor(1.)"
    dualad.func.grad(lambda x: (repr(x), x)[1])(t(1.0))


def test_copies():
    x = t([1.0, 2.0], True)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.requires_grad and y.is_leaf and y is not x
        same(y, [1.0, 2.0])
    with pytest.raises(TypeError, match="leaf"):
        pickle.dumps(x * 2)
    c = x.clone()
    c.sum().backward()
    same(x.grad, [1.0, 1.0])


def test_equality_is_by_entries_and_hash_by_identity():
    x = t([1.0, 2.0])
    assert (x == t([1.0, 3.0])).tolist() == [True, False]
    assert len({x, x, t([1.0, 2.0])}) == 2
    assert x.equal(t([1.0, 2.0])) and x.allclose(x + 1e-12) and not (x == None)  # noqa: E711


def test_numpy_functions_give_tensors():
    x = t([1.0, 4.0], True)
    y = np.sqrt(x)
    assert isinstance(y, dualad.Tensor)
    np.sum(y).backward()
    same(x.grad, [0.5, 0.25])
    stacked = np.stack([x, x * 2])
    assert isinstance(stacked, dualad.Tensor) and stacked.requires_grad
    parts = np.split(t([1.0, 2.0]), 2)
    assert all(isinstance(p, dualad.Tensor) for p in parts)
    same(np.asarray(t([1.0, 2.0])), [1.0, 2.0])
    q, r = np.linalg.qr(t(np.eye(2)))
    assert isinstance(q, dualad.Tensor) and isinstance(r, dualad.Tensor)
    mixed = np.ones(2) * t([1.0, 2.0])
    assert isinstance(mixed, dualad.Tensor)
    same(mixed, [1.0, 2.0])


def test_requires_grad_is_for_leaves():
    x = t(2.0)
    assert x.requires_grad_() is x and x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad
    y = x.requires_grad_() * 2
    y.requires_grad_()
    with pytest.raises(RuntimeError, match="detach"):
        y.requires_grad_(False)


def test_detach_in_place_and_data():
    x = t([1.0, 2.0], True)
    y = x * 2
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError, match="view"):
        (x * 2)[:1].detach_()
    x.data.mul_(10)
    same(x, [10.0, 20.0])
    assert x.is_leaf and x.requires_grad
    x.data = t([5.0])
    same(x, [5.0])
    assert x.requires_grad


def test_attributes_of_ones_own():
    x = t(1.0)
    x.name = "weight"
    assert x.name == "weight"
