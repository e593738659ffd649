"""custom_vjp, custom_jvp and stop_gradient."""

import functools

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

X = np.array([0.5, -1.5, 2.0])


def doubled_sine():
    """The sine with twice its derivative, so that one sees which rule was used."""

    @weir.custom_vjp
    def f(x):
        return wnp.sin(x)

    f.defvjp(lambda x: (wnp.sin(x), wnp.cos(x)), lambda slope, ct: (2 * slope * ct,))
    return f


def doubled_sine_forward():
    @weir.custom_jvp
    def f(x):
        return wnp.sin(x)

    @f.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), 2 * wnp.cos(x) * t

    return f


RULES = pytest.mark.parametrize("make", [doubled_sine, doubled_sine_forward])


@RULES
def test_a_rule_is_used(make):
    f = make()
    want = 2 * np.cos(X)
    assert_tree_close(f(X), np.sin(X))
    assert_tree_close(weir.jit(f)(X), np.sin(X))
    assert_tree_close(weir.grad(lambda x: wnp.sum(f(x)))(X), want)
    assert_tree_close(weir.vmap(weir.grad(f))(X), want)
    assert_tree_close(weir.grad(lambda x: wnp.sum(weir.vmap(f)(x)))(X), want)
    assert_tree_close(weir.vjp(f, X)[1](X)[0], want * X)
    assert_tree_close(weir.grad(lambda x: wnp.sum(3 * f(2 * x) + x))(X), 12 * np.cos(2 * X) + 1)


@RULES
def test_a_rule_in_control_flow(make):
    f = make()

    def loop(x):
        return weir.fori_loop(0, 2, lambda i, y: f(y), x)

    def branch(x):
        return weir.cond(x > 0, f, lambda x: x, x)

    assert_tree_close(weir.grad(loop)(0.5), np.float32(4 * np.cos(0.5) * np.cos(np.sin(0.5))))
    assert_tree_close(weir.vmap(weir.grad(branch))(X), np.where(X > 0, 2 * np.cos(X), 1))


@RULES
def test_second_derivatives_are_those_of_the_rule(make):
    f = make()
    want = -2 * np.sin(X)
    assert_tree_close(weir.vmap(weir.grad(weir.grad(f)))(X), want)
    assert_tree_close(weir.vmap(weir.jacfwd(weir.grad(f)))(X), want)


def test_a_jvp_rule_serves_forward_mode():
    f = doubled_sine_forward()
    assert_tree_close(weir.jvp(f, (X,), (np.ones(3),))[1], 2 * np.cos(X))
    assert_tree_close(weir.jacfwd(f)(X), np.diag(2 * np.cos(X)))

    def endless(x):
        return weir.while_loop(lambda y: y < 2, lambda y: f(y) + 2, x)

    assert_tree_close(weir.jacfwd(endless)(0.5), np.float32(2 * np.cos(0.5)))


def test_a_vjp_rule_refuses_forward_mode():
    with pytest.raises(weir.NotDifferentiable, match="custom_vjp f at .*reverse mode only"):
        weir.jvp(doubled_sine(), (X,), (X,))


def test_a_vjp_rule_with_one_for_forward_mode():
    f = doubled_sine()
    f.defjvp(lambda primals, tangents: (wnp.sin(*primals), 3 * wnp.cos(*primals) * tangents[0]))
    assert_tree_close(weir.jvp(f, (X,), (np.ones(3),))[1], 3 * np.cos(X))
    assert_tree_close(weir.grad(lambda x: wnp.sum(f(x)))(X), 2 * np.cos(X))


def test_pytrees_and_arguments_without_derivative():
    @functools.partial(weir.custom_vjp, nondiff_argnums=(0,))
    def scaled(power, params, count):
        return {"y": params["w"] ** power * count}

    def fwd(power, params, count):
        return scaled(power, params, count), (params, count)

    def bwd(power, residuals, ct):
        params, count = residuals
        return {"w": 10 * power * ct["y"] * count, "unused": None}, None

    scaled.defvjp(fwd, bwd)
    params = {"w": X, "unused": None}
    by_params = weir.grad(lambda p: wnp.sum(scaled(3, p, 2)["y"]))(params)
    assert_tree_close(by_params, {"w": np.full(3, 60.0), "unused": None})
    by_keyword = weir.grad(lambda p: wnp.sum(scaled(3, params=p, count=2)["y"]))(params)
    assert_tree_close(by_keyword, by_params)


def test_rules_for_each_argument():
    @weir.custom_jvp
    def f(x, y):
        return x * y

    f.defjvps(lambda t, out, x, y: 5 * t * y, None)
    assert_tree_close(weir.grad(f, (0, 1))(2.0, 3.0), (np.float32(15), np.float32(0)))
    assert_tree_close(weir.jvp(f, (2.0, 3.0), (1.0, 1.0))[1], np.float32(15))


def test_clipped_gradients():
    @weir.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, ct: (wnp.clip(ct, -1, 1),))
    got = weir.grad(lambda x: wnp.sum(clipped(x) * np.array([5.0, 0.5, -3.0])))(X)
    assert_tree_close(got, np.array([1.0, 0.5, -1.0]))


def test_methods():
    class Layer:
        def __init__(self, w):
            self.w = w

        @functools.partial(weir.custom_vjp, nondiff_argnums=(0,))
        def apply(self, x):
            return self.w * x

    Layer.apply.defvjp(
        lambda self, x: (self.w * x, None), lambda self, _, ct: (100 * self.w * ct,)
    )
    assert weir.grad(Layer(2.0).apply)(1.0) == 200


def test_stop_gradient():
    def f(x):
        return wnp.sum(x["a"] * weir.stop_gradient(x)["a"])

    assert_tree_close(weir.grad(f)({"a": X}), {"a": X})
    assert_tree_close(weir.stop_gradient({"a": X, "n": 3}), {"a": X, "n": np.int32(3)})
    stopped = weir.grad(lambda x: weir.stop_gradient(x) ** 2)
    assert stopped(3.0) == 0
    assert weir.jvp(lambda x: x * weir.stop_gradient(x), (3.0,), (1.0,))[1] == 3
    # Also for outer derivatives.
    assert weir.grad(weir.grad(lambda x: x * x * weir.stop_gradient(x)))(3.0) == 6
    straight = weir.grad(lambda x: x + weir.stop_gradient(wnp.round(x) - x))
    assert straight(0.7) == 1


def test_bad_rules():
    @weir.custom_vjp
    def f(x, y):
        return x * y

    with pytest.raises(weir.FailedPrecondition, match="custom_vjp f has no rule yet"):
        f(1.0, 2.0)
    with pytest.raises(weir.FailedPrecondition, match="custom_jvp f has no rule yet"):
        weir.custom_jvp(f._function)(1.0, 2.0)

    def use(fwd, bwd):
        f.defvjp(fwd, bwd)
        return weir.grad(f, (0, 1))(1.0, 2.0)

    with pytest.raises(TypeError, match=r"fwd of custom_vjp f must return \(result, residuals\)"):
        use(lambda x, y: x * y, None)
    with pytest.raises(TypeError, match="must return a tuple of 2, one cotangent for each"):
        use(lambda x, y: (x * y, None), lambda _, ct: (ct,))
    with pytest.raises(TypeError, match="cotangent of structure"):
        use(lambda x, y: (x * y, None), lambda _, ct: ((ct, ct), ct))
    with pytest.raises(TypeError, match="must have the type f32"):
        use(lambda x, y: (x * y, None), lambda _, ct: (wnp.ones(3) * ct, ct))
    with pytest.raises(TypeError, match="gives results of structure"):
        use(lambda x, y: ((x, y), None), lambda _, ct: (ct, ct))

    @weir.custom_jvp
    def g(x):
        return x

    g.defjvp(lambda primals, tangents: primals[0])
    with pytest.raises(TypeError, match=r"must return \(result, tangent\)"):
        weir.jvp(g, (1.0,), (1.0,))
    g.defjvp(lambda primals, tangents: (primals[0], tangents))
    with pytest.raises(TypeError, match="gives tangents of structure"):
        weir.jvp(g, (1.0,), (1.0,))


def test_an_array_from_around_is_no_argument():
    def outer(x):
        @weir.custom_vjp
        def f(y):
            return x * y

        f.defvjp(lambda y: (x * y, None), lambda _, ct: (ct,))
        return f(2.0)

    with pytest.raises(weir.NotDifferentiable, match="uses an array .* make it an argument"):
        weir.grad(outer)(3.0)


def test_a_rule_may_use_arrays_from_around_that_are_constants():
    def outer(x, scale):
        @weir.custom_vjp
        def f(y):
            return y * scale

        f.defvjp(lambda y: (y * scale, None), lambda _, ct: (ct * scale * 2,))
        return weir.grad(f)(x)

    assert weir.jit(outer)(1.0, 3.0) == 6

    def loop(x, scale):
        @weir.custom_vjp
        def f(y):
            return y * scale

        f.defvjp(lambda y: (y * scale, None), lambda _, ct: (ct * scale * 2,))
        return weir.fori_loop(0, 2, lambda i, y: f(y), x)

    assert weir.jit(lambda x, s: weir.grad(lambda x: loop(x, s))(x))(1.0, 3.0) == 36
