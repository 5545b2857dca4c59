"""PyTorch's functions of tensors at the top: dualad.exp, dualad.stack, dualad.where, ..."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.tensor_functions import IN_PLACE, METHODS, OF_SEVERAL

X = np.array([1.0, -2.0, 3.0])
A = np.arange(6.0).reshape(2, 3)

CASES = {
    "abs": (lambda: dualad.abs(t(X)), np.abs(X)),
    "exp by name": (lambda: dualad.exp(input=t(X)), np.exp(X)),
    "sum": (lambda: dualad.sum(t(A), dim=0), A.sum(0)),
    "max": (lambda: dualad.max(t(X)), 3.0),
    "max along": (lambda: dualad.max(t(A), 1).values, [2.0, 5.0]),
    "matmul": (lambda: dualad.matmul(t(A), t(X)), A @ X),
    "t": (lambda: dualad.t(t(A)), A.T),
    "clamp": (lambda: dualad.clamp(t(X), min=0.0), np.maximum(X, 0)),
    "number + tensor": (lambda: dualad.add(2, t(X)), 2 + X),
    "number - tensor": (lambda: dualad.sub(2, t(X)), 2 - X),
    "number * tensor": (lambda: dualad.mul(2, t(X)), 2 * X),
    "number / tensor": (lambda: dualad.div(2, t(X)), 2 / X),
    "number ** tensor": (lambda: dualad.pow(2, t(X)), 2**X),
    "tensor ** number": (lambda: dualad.pow(t(X), 2), X**2),
    "cat": (lambda: dualad.cat([t(X), t([4.0])]), [1, -2, 3, 4]),
    "cat along": (lambda: dualad.cat((t(A), t(A)), dim=1), np.hstack([A, A])),
    "cat of nothing": (lambda: dualad.cat([t(A), t([])]), A),
    "concat": (lambda: dualad.concat([t(X), t(X)]), np.tile(X, 2)),
    "stack": (lambda: dualad.stack([t(X), t(2 * X)]), [X, 2 * X]),
    "stack along": (lambda: dualad.stack([t(X), t(2 * X)], dim=-1), np.stack([X, 2 * X], -1)),
    "hstack": (lambda: dualad.hstack([t(X), t(X)]), np.tile(X, 2)),
    "vstack": (lambda: dualad.vstack([t(X), t(X)]), [X, X]),
    "einsum": (lambda: dualad.einsum("ij,j->i", t(A), t(X)), A @ X),
    "einsum of a list": (lambda: dualad.einsum("i,i->", [t(X), t(X)]), X @ X),
    "where": (lambda: dualad.where(t(X) > 0, t(X), t(2 * X)), [1, -4, 3]),
    "where, a number": (lambda: dualad.where(t(X) > 0, t(X), 0.0), [1, 0, 3]),
    "where, a number first": (lambda: dualad.where(t(X) > 0, 0.0, t(X)), [0, -2, 0]),
    "where, numbers": (lambda: dualad.where(t(X) > 0, 1.0, 0.0).double(), [1, 0, 1]),
    "where, indices": (lambda: dualad.where(t(X) > 0)[0], [0, 2]),
    "broadcast": (lambda: dualad.broadcast_tensors(t(X), t([[1.0], [2.0]]))[0], [X, X]),
    "meshgrid": (lambda: dualad.meshgrid(t(X), t([1.0, 2.0]))[0], np.stack([X, X], 1)),
    "real": (lambda: dualad.real(t([1 + 2j], dtype=dualad.complex128)), [1.0]),
    "imag": (lambda: dualad.imag(t([1 + 2j], dtype=dualad.complex128)), [2.0]),
    "empty_like": (lambda: dualad.empty_like(t(A)), np.zeros((2, 3))),
    "in place": (lambda: dualad.exp_(t(X)), np.exp(X)),
}


@pytest.mark.parametrize("what", CASES)
def test_values(what):
    call, expected = CASES[what]
    same(call(), expected)


def test_every_name_of_the_lists_is_there():
    for name in METHODS | IN_PLACE:
        assert getattr(dualad, name).__name__ == name
        assert callable(getattr(dualad.Tensor, name))
    assert all(callable(getattr(dualad, name)) for name in OF_SEVERAL)
    assert set(dir(dualad)) >= METHODS | IN_PLACE | OF_SEVERAL
    assert not set(dualad.__all__) & (METHODS | IN_PLACE | OF_SEVERAL)  # they hide Python's


def test_they_are_differentiated():
    """sum over i of w_i x_i**2 with w = (1, 10), by stack, where and einsum."""
    x = t([3.0, 4.0], True)
    parts = dualad.stack([x[0] * x[0], dualad.square(x[1])])
    loss = dualad.einsum("i,i->", t([1.0, 10.0]), dualad.where(parts > 0, parts, 0.0))
    loss.backward()
    same(x.grad, [6.0, 80.0])
    joined = dualad.func.jacrev(lambda x: dualad.cat([x, dualad.exp(x)]))(t([0.0]))
    same(joined, [[1.0], [1.0]])


def test_dtypes_are_promoted_as_in_pytorch():
    assert dualad.cat([dualad.ones(1), dualad.tensor([1])]).dtype == dualad.float32
    assert dualad.stack([t(1.0), dualad.tensor(1.0)]).dtype == dualad.float64
    assert dualad.add(2.5, dualad.tensor([1])).dtype == dualad.float32


def test_likenesses():
    x = dualad.zeros(2, 3)
    for like in (dualad.rand_like, dualad.randn_like):
        assert (like(x).shape, like(x).dtype) == ((2, 3), dualad.float32)
        assert like(t(1.0), requires_grad=True).requires_grad
    assert dualad.is_tensor(x) and not dualad.is_tensor(np.zeros(2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dualad.exp(X), TypeError, "must be Tensor, not ndarray.*use numpy.exp"),
        (lambda: dualad.exp(1.0), TypeError, "must be Tensor, not float.*use numpy.exp"),
        (lambda: dualad.relu(X), TypeError, "must be Tensor, not ndarray$"),
        (lambda: dualad.maximum(2, t(X)), TypeError, "must be Tensor, not int"),
        (lambda: dualad.exp(t(X), out=t(X)), TypeError, "out=.*copy_"),
        (lambda: dualad.stack(t(A)), TypeError, "list of Tensors"),
        (lambda: dualad.stack([t(X), 1.0]), TypeError, "element 1.*float"),
        (lambda: dualad.stack([t(X), t([1.0])]), RuntimeError, "same shape"),
        (lambda: dualad.cat([]), ValueError, "non-empty"),
        (lambda: dualad.stack([]), RuntimeError, "non-empty"),
        (lambda: dualad.where(X > 0, t(X), t(X)), TypeError, "ndarray"),
        (lambda: dualad.real(X), TypeError, "use numpy.real"),
        (lambda: dualad.no_such_function, AttributeError, "no_such_function"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_inside_of_a_transformation_of_arrays_they_say_what_to_use():
    with pytest.raises(TypeError, match=r"use numpy\.exp"):
        dualad.grad(lambda x: dualad.exp(x))(1.0)
    assert dualad.grad(lambda x: np.exp(x))(0.0) == 1.0


# --- devices -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: dualad.tensor([1.0], **o),
        lambda **o: dualad.as_tensor([1.0], **o),
        lambda **o: dualad.zeros(2, **o),
        lambda **o: dualad.ones(2, **o),
        lambda **o: dualad.empty(2, **o),
        lambda **o: dualad.full((2,), 1.0, **o),
        lambda **o: dualad.zeros_like(t(X), **o),
        lambda **o: dualad.ones_like(t(X), **o),
        lambda **o: dualad.full_like(t(X), 1.0, **o),
        lambda **o: dualad.empty_like(t(X), **o),
        lambda **o: dualad.rand(2, **o),
        lambda **o: dualad.randn(2, **o),
        lambda **o: dualad.rand_like(t(X), **o),
        lambda **o: dualad.eye(2, **o),
        lambda **o: dualad.arange(2.0, **o),
        lambda **o: dualad.linspace(0.0, 1.0, 2, **o),
        lambda **o: t(X).to(**o),
    ],
)
def test_the_only_device_is_the_cpu(make):
    for device in (None, "cpu", "cpu:0", dualad.device("cpu"), t(X).device):
        assert make(device=device).device == "cpu"
    with pytest.raises(TypeError, match=r"device='cuda'.*CPU"):
        make(device="cuda")


def test_what_a_device_is():
    assert repr(dualad.device("cpu")) == "device(type='cpu')"
    assert (dualad.device().type, dualad.device().index) == ("cpu", None)
    with pytest.raises(TypeError, match="cuda:1"):
        dualad.device("cuda:1")
    with pytest.raises(TypeError, match="cuda"):
        t(X).to("cuda")
