"""The arguments of tensor methods, positional and by keyword, as PyTorch has them."""

import numpy as np
import pytest
from tensors import same, t

import dualad

DATA = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
ROWS = dualad.tensor([0, 0])

CASES = {
    "sum of a list of dims": (lambda x: x.sum([0, 1]), DATA.sum()),
    "sum of no dims is that of all": (lambda x: x.sum(()), DATA.sum()),
    "var": (lambda x: x.var(), DATA.var(ddof=1)),
    "var unbiased": (lambda x: x.var(unbiased=False), DATA.var()),
    "var unbiased alone": (lambda x: x.var(False), DATA.var()),
    "var correction": (lambda x: x.var(dim=0, correction=0), DATA.var(0)),
    "std": (lambda x: x.std(1, keepdim=True), DATA.std(1, ddof=1, keepdims=True)),
    "sort stable": (lambda x: x.sort(stable=True).values, np.sort(DATA)),
    "argsort stable": (lambda x: x.argsort(dim=0, stable=True), np.argsort(DATA, 0)),
    "reshape by name": (lambda x: x.reshape(shape=(3, 2)), DATA.reshape(3, 2)),
    "permute by name": (lambda x: x.permute(dims=(1, 0)), DATA.T),
    "expand by name": (lambda x: x[:, :1].expand(size=(2, 2)), DATA[:, [0, 0]]),
    "div floor": (lambda x: x.div(4, rounding_mode="floor"), DATA // 4),
    "div trunc": (lambda x: (-x).div(4, rounding_mode="trunc"), np.trunc(-DATA / 4)),
    "round decimals": (lambda x: (x / 3).round(decimals=2), np.round(DATA / 3, 2)),
    "det": (lambda x: x[:, :2].det(), 9.0),
    "inverse": (lambda x: x[:, :2].inverse(), np.array([[5, -1], [-6, 3]]) / 9),
    "repeat": (lambda x: x.repeat(2, 1), np.tile(DATA, (2, 1))),
    "tile": (lambda x: x.tile(2), np.tile(DATA, 2)),
    "new_empty": (lambda x: x.new_empty(2), np.zeros(2)),
    "index_add": (
        lambda x: x.index_add(dim=0, index=ROWS, source=x, alpha=2),
        DATA + np.array([2 * DATA.sum(0), np.zeros(3)]),
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_values(what):
    call, expected = CASES[what]
    same(call(t(DATA)), expected)


def test_what_is_known_of_a_tensor():
    x = t(DATA)
    assert (x.stride(), x.t().stride(), x.stride(0)) == ((3, 1), (1, 3), 3)
    assert (x.itemsize, x.element_size(), x.nbytes, x.device) == (8, 8, 48, "cpu")
    assert 3.0 in x and 7.0 not in x and hash(x) == id(x)
    assert "float64" in x.type() and x.type(dualad.float32).dtype == dualad.float32
    assert t([1.0], True).numpy(force=True).tolist() == [1.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.sum(0, 1), TypeError, "keepdim"),
        (lambda x: x.clamp(), RuntimeError, "at least one"),
        (lambda x: x.repeat(2), RuntimeError, "repeat dims"),
        (lambda x: x.div(2, rounding_mode="up"), RuntimeError, "rounding_mode"),
        (lambda x: x.index_add(0, ROWS[:1], x), RuntimeError, "number of indices"),
        (lambda x: x.index_add(0, ROWS.double(), x), RuntimeError, "integers"),
        (lambda x: x.index_add(0, ROWS, x.float()), RuntimeError, "same dtype"),
        (lambda x: x.index_add(0, ROWS + 5, x), RuntimeError, "out of range"),
        (lambda x: bool(x), RuntimeError, "ambiguous"),
        (lambda x: x.item(), RuntimeError, "elements"),
        (lambda x: float(x), ValueError, "one element"),
        (lambda x: (x > 1).positive(), RuntimeError, "boolean"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(t(DATA))


# --- shapes in place -----------------------------------------------------------------------------

IN_PLACE = {
    "t_": (lambda x: x.t_(), lambda a: a.T),
    "transpose_": (lambda x: x.transpose_(0, -1), lambda a: a.T),
    "swapaxes_": (lambda x: x.swapaxes_(0, 1), lambda a: a.T),
    "unsqueeze_": (lambda x: x.unsqueeze_(1), lambda a: a[:, None]),
    "squeeze_": (lambda x: x.unsqueeze_(0).squeeze_(0), lambda a: a),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_the_shape_changes_in_place(name):
    """d/dx of sum(w * view(2x)**2) is 8 x times the weights brought back."""
    change, view = IN_PLACE[name]
    x = t(DATA, True)
    y = x * 2
    version = y._version
    assert change(y) is y and y._version > version
    same(y, view(2 * DATA))
    y.mul_(3)
    weights = np.arange(6.0).reshape(2, 3)
    (t(view(weights)) * y * y).sum().backward()
    same(x.grad, 72 * DATA * weights)


def test_it_does_not_where_views_or_leaves_would_be_lost():
    y = t(DATA)
    row = y[0]
    with pytest.raises(RuntimeError, match="views"):
        y.t_()
    same(row, DATA[0])
    with pytest.raises(RuntimeError, match="leaf"):
        t(DATA, True).t_()


def test_the_shape_changes_in_place_inside_of_transformations():
    """sum(w * (2 x)**2) has the gradient 8 w x; the caller's tensor keeps its shape."""
    weights = np.arange(6.0).reshape(2, 3)

    def f(x):
        x.t_().mul_(2)
        return (t(weights.T) * x * x).sum()

    x = t(DATA)
    same(dualad.func.grad(f)(x), 8 * weights * DATA)
    same(dualad.func.hessian(f)(x), np.diag((8 * weights).ravel()).reshape(2, 3, 2, 3))
    assert x.shape == DATA.shape and x._version == 0
    same(dualad.vmap(lambda x: (x * 1).unsqueeze_(1).mul_(3))(x), 3 * DATA[..., None])


def test_a_saved_tensor_whose_shape_changes_is_noticed():
    x = t(DATA, True)
    y = x * 1
    z = y * y
    y.t_()
    with pytest.raises(RuntimeError, match="inplace"):
        z.sum().backward()


def test_filling():
    x = t(DATA, True)
    y = x * 1
    same(y.fill_diagonal_(0.0), [[0.0, 1.0, 2.0], [6.0, 0.0, 4.0]])
    y.sum().backward()
    same(x.grad, [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    dualad.manual_seed(3)
    drawn = dualad.zeros(1000, dtype=dualad.float64).uniform_(2.0, 3.0)
    assert 2 <= float(drawn.amin()) < 2.01 and 2.99 < float(drawn.amax()) <= 3
    dualad.manual_seed(3)
    same(dualad.zeros(1000, dtype=dualad.float64).uniform_(2.0, 3.0), drawn.numpy())
    normal = dualad.zeros(10000).normal_(1.0, 2.0)
    assert abs(float(normal.mean()) - 1) < 0.1 and abs(float(normal.std()) - 2) < 0.1
