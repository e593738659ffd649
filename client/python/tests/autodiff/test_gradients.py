"""grad, vjp, jvp, linearize, jacobians and hessians: what they return, how they nest, what they
refuse.
"""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

X = np.array([0.5, -1.5, 2.0])


def cubes(x):
    return wnp.sum(x**3)


def test_gradients_of_pytrees_by_several_arguments():
    def loss(params, x, scale):
        return scale * wnp.sum(wnp.tanh(params["w"] @ x + params["b"]))

    params = {"w": np.ones((2, 3)), "b": np.array([0.1, -0.2])}
    by_params, by_scale = weir.grad(loss, argnums=(0, 2))(params, X, 2.0)
    slope = 1 - np.tanh(params["w"] @ X + params["b"]) ** 2
    assert_tree_close(by_params, {"w": 2 * np.outer(slope, X), "b": 2 * slope})
    assert_tree_close(by_scale, np.tanh(params["w"] @ X + params["b"]).sum())


def test_value_and_auxiliary():
    def loss(x):
        return cubes(x), {"size": x.shape[0], "double": 2 * x}

    (value, aux), gradient = weir.value_and_grad(loss, has_aux=True)(X)
    assert_tree_close((value, aux["double"], gradient), ((X**3).sum(), 2 * X, 3 * X**2))
    gradient, aux = weir.grad(loss, has_aux=True)(X)
    assert_tree_close((gradient, aux["size"]), (3 * X**2, 3))


def test_keyword_arguments_are_handed_on():
    gradient = weir.grad(lambda x, power: wnp.sum(x**power))
    assert_tree_close(gradient(X, power=2), 2 * X)


def test_inside_and_outside_of_jit():
    def gradient(x):
        return weir.grad(cubes)(x)

    assert_tree_close(weir.jit(gradient)(X), gradient(X))
    assert_tree_close(weir.grad(weir.jit(cubes))(X), gradient(X))
    assert weir.jit(gradient, shapes="n")(X).shape == (3,)


def test_element_types_stay():
    for dtype in (np.float16, np.float32, np.float64):
        assert weir.grad(cubes)(X.astype(dtype)).dtype == dtype
    mixed = weir.grad(lambda x, y: wnp.sum(x * y), (0, 1))(X.astype(np.float32), X)
    assert [g.dtype for g in mixed] == [np.float32, np.float64]


def test_vjp_and_jvp():
    def f(x, y):
        return {"product": x * y, "sum": wnp.sum(x)}

    y = np.array([3.0, 4.0, 5.0])
    for run in (lambda g: g(), lambda g: weir.jit(g)()):

        def both():
            out, pull = weir.vjp(f, X, y)
            return out, pull({"product": np.array([1.0, 0.0, 2.0]), "sum": 10.0})

        out, (by_x, by_y) = run(both)
        assert_tree_close(out, {"product": X * y, "sum": X.sum()})
        assert_tree_close((by_x, by_y), (np.array([1, 0, 2]) * y + 10, np.array([1, 0, 2]) * X))
    out, change = weir.jvp(f, (X, y), (np.ones(3), np.zeros(3)))
    assert_tree_close(change, {"product": y, "sum": 3.0})


def test_linearize():
    out, change = weir.linearize(cubes, X)
    assert_tree_close((out, change(np.ones(3))), ((X**3).sum(), (3 * X**2).sum()))

    @weir.jit
    def columns(x):
        _, change = weir.linearize(lambda x: wnp.sin(x) * x[0], x)
        return weir.vmap(change)(wnp.eye(3, dtype=np.float64))

    want = np.diag(np.cos(X) * X[0])
    want[0] += np.sin(X)
    assert_tree_close(columns(X), want)


def test_auxiliary_values_of_the_others():
    def f(x):
        return cubes(x), x + 1

    out, pull, aux = weir.vjp(f, X, has_aux=True)
    assert_tree_close((aux, pull(1.0)[0]), (X + 1, 3 * X**2))
    out, change, aux = weir.jvp(f, (X,), (np.ones(3),), has_aux=True)
    assert_tree_close((change, aux), ((3 * X**2).sum(), X + 1))
    out, change, aux = weir.linearize(f, X, has_aux=True)
    assert_tree_close((change(np.ones(3)), aux), ((3 * X**2).sum(), X + 1))
    jacobian, aux = weir.jacrev(f, has_aux=True)(X)
    assert_tree_close((jacobian, aux), (3 * X**2, X + 1))


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_jacobians(chunk_size):
    def f(x, y):
        return wnp.outer(x, y), wnp.sum(x) * y

    y = np.array([3.0, 4.0])
    want = np.einsum("ik,j->ijk", np.eye(3), y), np.einsum("j,k->jk", y, np.ones(3))
    for jacobian in (weir.jacrev, weir.jacfwd):
        assert_tree_close(jacobian(f, chunk_size=chunk_size)(X, y), want)
        got = jacobian(f, argnums=(0, 1), chunk_size=chunk_size)(X, y)
        assert [tuple(x.shape for x in row) for row in got] == [
            ((3, 2, 3), (3, 2, 2)),
            ((2, 3), (2, 2)),
        ]
    assert weir.jacobian is weir.jacrev


def test_a_jacobian_runs_once_and_vectorized():
    @weir.jit
    def f(x):
        return weir.jacrev(lambda x: wnp.tanh(wnp.outer(x, x)))(x)

    explanation = weir.explain(f, X)
    assert not explanation.fallbacks
    assert explanation.counters["elements"]["tanh"] == 9


def test_hessians():
    def f(x):
        return wnp.sum(x**3) + x[0] * x[1]

    want = np.diag(6 * X)
    want[0, 1] = want[1, 0] = 1
    assert_tree_close(weir.hessian(f)(X), want)
    assert_tree_close(weir.jacrev(weir.jacrev(f))(X), want)
    assert_tree_close(weir.jacfwd(weir.jacfwd(f))(X), want)
    assert_tree_close(weir.jacrev(weir.jacfwd(f))(X), want)


def test_hessian_of_pytrees():
    def f(p):
        return p["a"] ** 2 * p["b"]

    got = weir.hessian(f)({"a": 3.0, "b": 5.0})
    assert_tree_close(got, {"a": {"a": 10.0, "b": 6.0}, "b": {"a": 6.0, "b": 0.0}})


def test_derivatives_of_any_order():
    f = wnp.sin
    for want in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin):
        f = weir.grad(f)
        assert_tree_close(f(0.7), np.float32(want(0.7)))


def test_inner_and_outer_derivatives_are_not_confused():
    # d/dx (x d/dy (x y)) = 2 x, at y = x as well.
    got = weir.grad(lambda x: x * weir.grad(lambda y: x * y)(x))(3.0)
    assert got == 6
    got = weir.jvp(lambda x: x * weir.jvp(lambda y: x * y, (x,), (1.0,))[1], (3.0,), (1.0,))
    assert_tree_close(got, (np.float32(9), np.float32(6)))
    got = weir.grad(lambda x: weir.jvp(lambda y: x * y * y, (x,), (1.0,))[1])(3.0)
    assert got == 12


def test_per_example_gradients_are_those_of_a_loop(rng):
    w, rows = rng.normal(size=(4, 3)), rng.normal(size=(6, 3))

    def loss(w, x):
        return wnp.sum(wnp.tanh(w @ x) ** 2)

    @weir.jit
    def both(w, rows):
        def one(i):
            return weir.grad(loss)(w, wnp.array(rows)[i])

        return (
            weir.vmap(weir.grad(loss), in_axes=(None, 0), strict=True)(w, rows),
            weir.for_loop(one, 6),
        )

    together, in_turn = both(w, rows)
    assert np.array_equal(together, in_turn)
    total = weir.grad(lambda w: wnp.sum(weir.vmap(lambda x: loss(w, x))(rows)))(w)
    assert_tree_close(total, in_turn.sum(0))


def test_gradients_through_vmap_and_of_it(rng):
    x = rng.normal(size=(5, 3))

    def f(x):
        return wnp.sum(weir.vmap(lambda row: wnp.sum(row**2) * row[0])(x) ** 2)

    inner = (x**2).sum(1) * x[:, 0]
    each = 2 * x * x[:, :1]
    each[:, 0] += (x**2).sum(1)
    assert_tree_close(weir.grad(f)(x), 2 * inner[:, None] * each)


def test_unused_arguments_have_zero_gradients():
    by_x, by_y = weir.grad(lambda x, y: wnp.sum(x), (0, 1))(X, X)
    assert_tree_close((by_x, by_y), (np.ones(3), np.zeros(3)))
    assert_tree_close(weir.jacrev(lambda x: wnp.ones(2))(X), np.zeros((2, 3)))


def test_integers_inside_have_no_derivative():
    def f(x):
        return wnp.sum(x[wnp.argsort(x)] * wnp.arange(3)) + wnp.floor(x[0]) + wnp.sum(x > 0)

    assert_tree_close(weir.grad(f)(X), np.array([1.0, 0.0, 2.0]))


def test_complex_numbers_have_the_convention_of_jax():
    z = np.array([1.0 + 2.0j, -0.5 + 1.0j])
    # d/dx - i d/dy of |z|^2 is 2 conj(z).
    got = weir.grad(lambda z: wnp.sum(z.real**2 + z.imag**2))(z)
    assert_tree_close(got, 2 * z.conj())
    assert_tree_close(weir.grad(lambda z: wnp.sum(wnp.abs(z)))(z), z.conj() / np.abs(z))
    got = weir.grad(lambda z: wnp.sum(z * z * z), holomorphic=True)(z)
    assert_tree_close(got, 3 * z**2)
    assert_tree_close(weir.jvp(lambda z: z * z, (z,), (z,))[1], 2 * z * z)
    got = weir.jacrev(lambda z: z * z, holomorphic=True)(z)
    assert_tree_close(got, np.diag(2 * z))
    assert_tree_close(weir.jacfwd(lambda z: z * z, holomorphic=True)(z), np.diag(2 * z))


def test_bad_requests():
    with pytest.raises(TypeError, match="differentiates by floats.*argument 0.*test_gradients.py"):
        weir.grad(lambda x: x)(3)
    with pytest.raises(TypeError, match="one scalar float; weir.jacrev"):
        weir.grad(lambda x: 2 * x)(X)
    with pytest.raises(TypeError, match="it returns"):
        weir.grad(lambda x: (x, x))(1.0)
    with pytest.raises(TypeError, match="the result of"):
        weir.grad(lambda x: wnp.sum(x).astype(int))(X)
    with pytest.raises(TypeError, match="holomorphic=True gives"):
        weir.grad(lambda z: wnp.sum(z * z))(X + 1j)
    with pytest.raises(TypeError, match="needs complex arguments"):
        weir.grad(lambda z: wnp.sum(z * z), holomorphic=True)(X)
    with pytest.raises(TypeError, match="needs a complex result"):
        weir.grad(lambda z: wnp.sum(z.real), holomorphic=True)(X + 1j)
    with pytest.raises(ValueError, match="argnums names argument 1, and f is called with 1"):

        def f(x):
            return x

        weir.grad(f, argnums=1)(1.0)
    with pytest.raises(ValueError, match="names an argument twice"):
        weir.grad(lambda x, y: x, argnums=(0, -2))(1.0, 1.0)
    with pytest.raises(TypeError, match="must return \\(result, auxiliary\\)"):
        weir.grad(lambda x: x, has_aux=True)(1.0)
    with pytest.raises(TypeError, match="tuple of primals"):
        weir.jvp(cubes, X, X)
    with pytest.raises(TypeError, match="tangents of a jvp have the structure"):
        weir.jvp(cubes, (X,), (X, X))
    with pytest.raises(TypeError, match="must be of the type of what they belong to, f64\\[3\\]"):
        weir.jvp(cubes, (X,), (X[:2],))
    with pytest.raises(TypeError, match="must be of the type of what they belong to, f64\\[\\]"):
        weir.vjp(cubes, X)[1](X)
    with pytest.raises(TypeError, match="two numbers for each complex one"):
        weir.jacrev(lambda z: z * z)(X + 1j)


def test_a_pullback_belongs_to_its_function():
    kept = []

    @weir.jit
    def f(x):
        kept.append(weir.vjp(cubes, x)[1])
        return x

    f(X)
    with pytest.raises(weir.TracingError, match="whose tracing is over"):
        weir.jit(lambda: kept[0](1.0))()


def test_an_array_of_the_differentiated_function_does_not_leave_it():
    kept = []

    def f(x):
        kept.append(2 * x)
        return wnp.sum(x)

    with pytest.raises(weir.TracingError, match="that is finished"):
        weir.jit(lambda x: weir.grad(f)(x) + kept[0])(X)


def test_an_op_without_a_derivative_is_named_with_its_line():
    with pytest.raises(weir.NotDifferentiable, match=r"igamma at .*test_gradients.py:\d+ has no"):
        weir.grad(lambda a: weir.lax.igamma(a, 2.0))(1.5)


@pytest.mark.parametrize("name", ["cnn", "lstm"])
def test_imported_models(name, digits, rng):
    """By what goes in: the slope of the logits along a direction."""
    model = weir.load_onnx(digits / f"{name}.onnx")
    given = np.load(digits / ("image.npy" if name == "cnn" else "rows.npy"))[:20]
    # The background would make all elements of a window equal.
    given = given + rng.uniform(0, 1, size=given.shape).astype(np.float32)
    direction = rng.normal(size=given.shape).astype(np.float32)

    @weir.jit
    def slopes(x, v):
        def of_one(x, v):
            total = weir.grad(lambda x: wnp.sum(model(x) ** 2))(x)
            out, change = weir.jvp(model, (x,), (v,))
            return wnp.sum(total * v), wnp.sum(2 * out * change)

        return weir.vmap(of_one)(x, v)

    @weir.jit
    def values(x):
        return weir.vmap(lambda x: wnp.sum(model(x) ** 2))(x)

    back, forth = slopes(given, direction)
    np.testing.assert_allclose(back, forth, rtol=1e-4)
    step = np.float32(3e-4)
    up, down = values(given + step * direction), values(given - step * direction)
    # Between some of the two points an element passes a corner.
    assert np.isclose(back, (up - down) / (2 * step), rtol=1e-2).mean() > 0.7
    assert not weir.explain(slopes, given, direction).fallbacks
