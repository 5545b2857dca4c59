"""Gradient edges, and what else a node of the graph tells."""

import gc

import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function, backward, forward_ad, grad
from dualad.autograd.graph import GradientEdge, Node, get_gradient_edge, increment_version


class Two(Function):
    """2x and 3x."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x, 3 * x

    @staticmethod
    def backward(ctx, g, h):
        return 2 * g + 3 * h


# --- edges ---------------------------------------------------------------------------------------


def test_an_edge_stands_for_its_tensor_among_the_inputs():
    x = t([1.0, 2.0], True)
    y = x * 2
    z = (y * y).sum()
    same(grad(z, get_gradient_edge(y), retain_graph=True)[0], [4.0, 8.0])
    gx, gy = grad(z, [get_gradient_edge(x), y])
    same(gx, [8.0, 16.0])
    same(gy, [4.0, 8.0])


def test_an_edge_outlives_its_tensor():
    x = t([1.0, 2.0], True)
    y = x * 2
    z, edge = (y * y).sum(), get_gradient_edge(y)
    del y
    gc.collect()
    same(grad(z, edge)[0], [4.0, 8.0])


def test_an_edge_belongs_to_the_value_at_its_time():
    x = t([1.0, 2.0], True)
    y = x * 2
    edge = get_gradient_edge(y)
    y.mul_(3)
    before, after = grad(y.sum(), [edge, y])
    same(before, [3.0, 3.0])
    same(after, [1.0, 1.0])


def test_outputs_of_one_operation_are_told_apart():
    x = t([1.0, 2.0], True)
    y, z = Two.apply(x)
    assert (y.output_nr, z.output_nr, x.output_nr) == (0, 1, 0) and y.grad_fn is z.grad_fn
    loss = (y + 5 * z * z).sum()  # its derivative by z is 10 z = 30 x
    edges = [get_gradient_edge(z), GradientEdge(z.grad_fn, 0), GradientEdge(z.grad_fn, 1), x]
    gz, gy, again, gx = grad(loss, edges)
    same(gz, [30.0, 60.0])
    same(again, [30.0, 60.0])
    same(gy, [1.0, 1.0])
    same(gx, [92.0, 182.0])


def test_edges_made_of_next_functions():
    x = t([1.0, 2.0], True)
    z = (x * 2).exp().sum()
    of_product = z.grad_fn.next_functions[0][0].next_functions[0]
    same(grad(z, GradientEdge(*of_product))[0], (2 * x).exp().detach().numpy())


def test_an_edge_among_the_outputs():
    x = t([1.0, 2.0], True)
    scalar = get_gradient_edge((x * x).sum())
    same(grad(scalar, x, retain_graph=True)[0], [2.0, 4.0])
    backward(scalar)
    same(x.grad, [2.0, 4.0])
    z = Two.apply(x)[1]
    several = get_gradient_edge(z)
    same(grad(several, x, t([1.0, 10.0]), retain_graph=True)[0], [3.0, 30.0])
    with pytest.raises(RuntimeError, match="scalar outputs"):
        grad(several, x)
    with pytest.raises(RuntimeError, match=r"should be \(2,\)"):
        grad(several, x, t([1.0, 1.0, 1.0]))
    same(grad(get_gradient_edge(x), x, t([5.0, 6.0]))[0], [5.0, 6.0])
    quotient = get_gradient_edge((1 / x).sum() / 2)
    same(grad(quotient, x)[0], [-0.5, -0.125])


def test_second_derivatives_and_duals_by_edges():
    x = t(2.0, True)
    edge = get_gradient_edge(x)
    (first,) = grad(x**3, edge, create_graph=True)
    same(grad(first, edge)[0], 12.0)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x, t(1.0))
        (g,) = grad(d**3, edge)
        same(forward_ad.unpack_dual(g).tangent, 12.0)


def test_unused_edges():
    x, y = t(1.0, True), t(1.0, True)
    edge = get_gradient_edge(y)
    assert grad(x * 2, edge, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="not have been used"):
        grad(x * 2, edge)
    with pytest.raises(RuntimeError, match="materialize_grads"):
        grad(x * 2, edge, materialize_grads=True)


def test_backward_adds_to_the_leaf_of_an_edge():
    x = t([1.0, 2.0], True)
    y = x * 2
    backward(y.sum(), inputs=get_gradient_edge(x), retain_graph=True)
    same(x.grad, [2.0, 2.0])
    with pytest.raises(RuntimeError, match=r"no \.grad.*autograd\.grad"):
        backward(y.sum(), inputs=[get_gradient_edge(y)])


def test_what_has_no_edge():
    with pytest.raises(RuntimeError, match="does not require"):
        get_gradient_edge(t(1.0))
    with pytest.raises(TypeError, match="float"):
        get_gradient_edge(1.0)
    x = t([1.0, 2.0], True)
    edge = get_gradient_edge((x * x).sum())
    grad(edge, x)
    with pytest.raises(RuntimeError, match="second time"):
        grad(edge, x, t(1.0))


# --- nodes ---------------------------------------------------------------------------------------


def names(node):
    return [(None if n is None else n.name(), k) for n, k in node.next_functions]


def test_next_functions_have_a_place_for_each_argument():
    x = t(2.0, True)
    leaf = ("AccumulateGrad", 0)
    assert names((x * 3).grad_fn) == [leaf, (None, 0)]
    assert names((t(3.0) * x).grad_fn) == [(None, 0), leaf]
    y, z = Two.apply(x)
    assert names((z * y).grad_fn) == [("TwoBackward", 1), ("TwoBackward", 0)]
    assert names(y.grad_fn) == [leaf]
    assert names(x.exp().grad_fn.next_functions[0][0]) == []


def test_the_node_of_a_leaf_knows_it():
    x = t(2.0, True)
    node = (x * 3).grad_fn.next_functions[0][0]
    assert node.variable is x
    with pytest.raises(AttributeError, match="variable"):
        (x * 3).grad_fn.variable


def test_nodes_have_a_class_and_metadata():
    x = t(2.0, True)
    node = Two.apply(x)[0].grad_fn
    assert isinstance(node, Node) and isinstance((x * 3).grad_fn, Node)
    node.metadata["depth"] = 3
    assert node.metadata == {"depth": 3} and (x * 3).grad_fn.metadata == {}


def test_a_context_that_is_recorded_tells_of_its_node():
    seen = []

    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            assert not hasattr(ctx, "name")
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            seen.append((ctx.name(), len(ctx.next_functions)))
            return 2 * g

    Named.apply(t(1.0, True)).backward()
    assert seen == [("NamedBackward", 1)]


def test_writes_by_other_means_can_be_told():
    x = t([1.0, 2.0], True)
    y = x * 1
    z, before = y * y, y._version
    increment_version(y)
    increment_version([y, y])
    assert y._version == before + 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    for wrong in (3, [3]):
        with pytest.raises(TypeError, match="int"):
            increment_version(wrong)


def test_graphs_of_edges_leave_nothing_behind():
    x = t(2.0, True)
    node = (x * 3).grad_fn
    node.metadata["x"] = 1
    edge = GradientEdge(node, 0)
    dualad.autograd.grad(edge, x, t(1.0))
    gc.collect()
    gc.disable()
    try:
        del node, edge
        assert gc.collect() == 0
    finally:
        gc.enable()
