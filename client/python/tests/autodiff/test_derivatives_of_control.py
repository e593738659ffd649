"""Derivatives of branches, loops, calls, and of what iterations have together."""

import numpy as np
import pytest
from conftest import assert_tree_close
from differences import Checked

import weir
import weir.numpy as wnp

W = np.array([[0.5, -0.3], [0.2, 0.4]])
C = np.array([0.3, -0.7])
XS = np.array([[0.1, 0.2], [0.5, -0.4], [-0.6, 0.3]])


def branch(w, c):
    return weir.cond(c[0] > 0, lambda x: wnp.sin(w @ x), lambda x: x * wnp.sum(w), c)


def branch_of_two(w, c):
    return weir.cond(wnp.sum(w) > 0, lambda: (w * c[0], c), lambda: (w, c * c))


def three_ways(w, c):
    return weir.switch(1, [lambda x: x, lambda x: w @ (x * x), wnp.sin], c)


def recurrent(w, c):
    def step(carry, x):
        carry = wnp.tanh(w @ carry + x)
        return carry, wnp.sum(carry) * x

    return weir.scan(step, c, XS)


def backwards(w, c):
    return weir.scan(lambda carry, x: (carry * x + w[0], carry), c, XS, reverse=True)


def over_an_argument(w, c):
    return weir.scan(lambda carry, row: (carry + wnp.sin(row) * c, carry * row), c, w)


def over_an_argument_backwards(w, c):
    return weir.scan(lambda carry, row: (carry * row + c, wnp.exp(row)), c, w, reverse=True)


def counted(w, c):
    return weir.fori_loop(1, 4, lambda i, x: wnp.sin(w @ x) * i, c)


def counted_with_integers(w, c):
    def step(i, carry):
        count, x = carry
        return count + 1, x * wnp.cos(w[0]) + count

    return weir.fori_loop(0, 3, step, (0, c))[1]


def no_trip(w, c):
    return weir.fori_loop(0, 0, lambda i, x: w @ x, c)


def nested(w, c):
    def outer(x, row):
        return weir.fori_loop(0, 2, lambda i, y: wnp.tanh(w @ y + row), x), wnp.sum(x)

    return weir.scan(outer, c, XS)


def branch_in_a_loop(w, c):
    def step(x, i):
        return weir.cond(i % 2 == 0, lambda x: wnp.sin(w @ x), lambda x: x * c, x), x[0]

    return weir.scan(step, c, np.arange(4))


def of_many(w, c):
    return weir.vmap(lambda row: wnp.tanh(w @ row) * c[0])(XS)


def of_own_rows(w, c):
    return weir.vmap(lambda row, x: wnp.sum(row * x) * row, in_axes=(1, 0))(w, c)


def of_any_rows(w, c):
    ids = np.array([1, 0, 1, 1])
    return weir.vmap(lambda i: wnp.sin(w[i]) * c[i])(ids)


def of_rows_and_all(w, c):
    return weir.pfor(lambda i: w[i] * c[1 - i] + wnp.sum(w), 2)


def in_chunks(w, c):
    return weir.vmap(lambda x: wnp.tanh(w @ x) * c, chunk_size=2)(XS)


def in_turn(w, c):
    return weir.for_loop(lambda i: wnp.sin(w @ wnp.array(XS)[i]) * c[0], 3)


def maps_in_maps(w, c):
    return weir.vmap(lambda a: weir.vmap(lambda b: wnp.sum(wnp.sin(w @ (a * b))))(XS) * c[0])(XS)


def branches_of_iterations(w, c):
    def one(x):
        return weir.cond(x[0] > 0, lambda: wnp.sin(w @ x), lambda: wnp.cos(x * c))

    return weir.vmap(one)(XS)


def loops_of_iterations(w, c):
    def one(x):
        return weir.fori_loop(0, 3, lambda i, y: wnp.tanh(w @ y + x), c)

    return weir.vmap(one)(XS)


def meeting(w, c):
    def one(x):
        y = wnp.sin(w @ x)
        return y * weir.psum(y * c) + weir.pmean(wnp.sum(y)) * weir.pmax(y[0]) - weir.pmin(y[1])

    return weir.vmap(one)(XS)


def meeting_in_a_loop(w, c):
    def one(x):
        def step(i, y):
            return wnp.sin(w @ y) + weir.psum(y * c) * 0.3 + weir.pmax(y)

        return weir.fori_loop(0, 3, step, x)

    return weir.vmap(one)(XS)


def meeting_in_a_branch(w, c):
    def one(x):
        return weir.cond(x[0] > 0, lambda: weir.psum(w @ x) * c, lambda: weir.pmean(x * c))

    return weir.vmap(one)(XS)


def gathering(w, c):
    return weir.vmap(lambda x: weir.all_gather(wnp.sum(w @ x)) * c[0] * x[0])(XS)


@weir.function
def square_of(w, x):
    return wnp.sin(w @ x) ** 2


def calling(w, c):
    return square_of(w, square_of(w, c) + c)


def calling_with_what_is_captured(w, c):
    @weir.function
    def layer(x):
        return wnp.sin(w @ x) + c

    return weir.vmap(layer)(XS) * layer(layer(c))


def listing(w, c):
    def step(i, state):
        return state.push(w @ state[i])

    return weir.fori_loop(0, 3, step, weir.List.empty(4, c).push(c)).stack()


def products_of_weights(w, c):
    """With what a loop computes of weights alone, and both ways round."""

    def step(carry, x):
        made = wnp.tanh((carry @ w.T) @ (w * 2) + wnp.sum(w) * x)
        return made, wnp.outer(made, w[0]) @ c

    return weir.scan(step, c, XS)


def products_of_batches(w, c):
    batches = wnp.stack([w, 2 * w, w * w])

    def step(carry, x):
        made = wnp.einsum("bij,bj->bi", batches, carry + x)
        return wnp.sin(made), wnp.einsum("bij,kj->bki", batches, carry)

    return weir.scan(step, wnp.stack([c, c, -c]), XS)


def a_sum_of_iterations_of_nothing(w, c):
    """psum of what is the same for all, which stays inside."""
    return weir.vmap(lambda x: weir.psum(c * c) * x)(XS)


def constants(w, c):
    def step(i, x):
        return wnp.sin(x) + i

    return weir.fori_loop(0, 3, step, 1.0) * c


COUNTED = [
    branch,
    branch_of_two,
    three_ways,
    recurrent,
    backwards,
    over_an_argument,
    over_an_argument_backwards,
    counted,
    counted_with_integers,
    no_trip,
    nested,
    branch_in_a_loop,
    of_many,
    of_own_rows,
    of_any_rows,
    of_rows_and_all,
    in_chunks,
    in_turn,
    maps_in_maps,
    branches_of_iterations,
    loops_of_iterations,
    meeting,
    meeting_in_a_loop,
    meeting_in_a_branch,
    gathering,
    calling,
    calling_with_what_is_captured,
    listing,
    products_of_weights,
    products_of_batches,
    a_sum_of_iterations_of_nothing,
    constants,
]


@pytest.mark.parametrize("function", COUNTED, ids=lambda f: f.__name__)
def test_both_modes(rng, function):
    checked = Checked(rng, function, [W, C])
    checked.check()
    assert checked.compared


@pytest.mark.parametrize("function", COUNTED, ids=lambda f: f.__name__)
def test_second_derivatives(rng, function):
    def gradient(w, c):
        def total(w, c):
            return sum(wnp.sum(x * x) for x in weir.tree.leaves(function(w, c)))

        return weir.grad(total, (0, 1))(w, c)

    Checked(rng, gradient, [W, C], step=1e-4).check()


def test_a_while_loop_has_both_modes(rng):
    def powers(w, c):
        def step(state):
            count, x = state
            return count + 1, wnp.tanh(w @ x) * 1.5

        return weir.while_loop(lambda state: state[0] < 4, step, (0, c))[1]

    xs = (W, C)
    vs = (rng.normal(size=W.shape), rng.normal(size=C.shape))
    h = 1e-6
    up = powers_of(powers, [x + h * v for x, v in zip(xs, vs)])
    down = powers_of(powers, [x - h * v for x, v in zip(xs, vs)])
    assert_tree_close(weir.jvp(powers, xs, vs)[1], (up - down) / (2 * h))
    want = weir.jacfwd(lambda c: powers(W, c))(C)
    each = weir.vmap(weir.jacfwd(lambda c: powers(W, c)))(np.stack([C, 2 * C]))
    assert_tree_close(each[0], want)
    assert_tree_close(weir.jacrev(lambda c: powers(W, c))(C), want)


def powers_of(function, xs):
    return weir.jit(function)(*xs)


def test_a_while_loop_that_nothing_depends_on_is_no_matter():
    def f(x):
        count = weir.while_loop(lambda n: n < 5, lambda n: n + 2, 0)
        return x * count

    assert weir.grad(f)(3.0) == 6


def test_trips_that_only_the_run_knows():
    def f(x, n):
        return weir.fori_loop(0, n, lambda i, y: y * x, x)

    assert weir.jit(lambda x, n: weir.jvp(lambda x: f(x, n), (x,), (1.0,))[1])(2.0, 3) == 32
    assert weir.jit(lambda x, n: weir.grad(lambda x: f(x, n))(x))(2.0, 3) == 32


def test_open_sizes(rng):
    @weir.jit(shapes=("n, k", "k"))
    def gradients(rows, w):
        def loss(rows, w):
            def step(carry, row):
                return wnp.tanh(carry + wnp.sum(row * w)), carry

            total, each = weir.scan(step, 0.0, rows)
            mapped = weir.vmap(lambda row: wnp.sum(wnp.sin(row * w)))(rows)
            return total + wnp.sum(each) + wnp.sum(mapped * mapped) + wnp.mean(rows[1:] * w)

        return weir.grad(loss, (0, 1))(rows, w)

    @weir.jit
    def closed(rows, w):
        return gradients.__wrapped__(rows, w)

    for n, k in ((4, 3), (7, 2)):
        rows, w = rng.normal(size=(n, k)), rng.normal(size=k)
        assert_tree_close(gradients(rows, w), closed(rows, w))


def test_gradients_inside_of_functions_and_flows():
    @weir.jit
    def slopes(w, c):
        total = wnp.sum(w)

        @weir.function
        def slope(x):
            return weir.grad(lambda x: wnp.sum(wnp.sin(x * total)))(x)

        return slope(c), weir.vmap(slope)(w)

    want = [np.cos(x * W.sum()) * W.sum() for x in (C, W)]
    assert_tree_close(slopes(W, C), tuple(want))
    flow = weir.Flow("slopes")
    records = flow.input("x", "f64[2]")
    records.map(lambda x: weir.grad(lambda x: wnp.sum(x**3))(x)).output("slopes")
    (found,) = flow.run({"x": [(0, XS)]})["slopes"][0]
    assert_tree_close(found, 3 * XS**2)


def test_recursion_is_refused():
    @weir.function
    def power(x, n):
        return weir.cond(n == 0, lambda: 1.0, lambda: x * power(x, n - 1))

    message = r"function power, called at .*test_derivatives_of_control.py:\d+, calls itself"
    with pytest.raises(weir.NotDifferentiable, match=message):
        weir.grad(lambda x: power(x, 3))(2.0)


def test_gradients_inside_of_loops_and_branches():
    def descend(x):
        return weir.fori_loop(0, 50, lambda i, x: x - 0.1 * weir.grad(bowl)(x), x)

    def bowl(x):
        return wnp.sum((x - 2.0) ** 2)

    assert_tree_close(weir.jit(descend)(C), np.full(2, 2.0), tol=1e-3)
    assert_tree_close(weir.vmap(descend)(XS), np.full((3, 2), 2.0), tol=1e-3)
    # The end of the descent hardly depends on its beginning: (1 - 0.2)^50.
    assert_tree_close(weir.jacrev(descend)(C), np.eye(2) * 0.8**50)
    got = weir.jit(lambda x: weir.cond(x > 0, weir.grad(wnp.sin), lambda x: x, x))(0.5)
    assert_tree_close(got, np.float32(np.cos(0.5)))


def test_a_branch_that_does_not_run_gives_no_nan():
    def f(x):
        return weir.cond(x > 0, wnp.sqrt, lambda x: x * 2, x)

    assert weir.grad(f)(-1.0) == 2
    got = weir.vmap(weir.grad(f))(np.array([4.0, 0.0, -1.0]))
    assert_tree_close(got, np.array([0.25, 2.0, 2.0]))


def test_effects_happen_once(capsys):
    count = weir.Variable(0.0)

    def f(x):
        def step(i, y):
            count.assign_add(1.0)
            weir.print("trip {}", i)
            weir.check(wnp.isfinite(y), "finite")
            return y * x

        return weir.fori_loop(0, 3, step, 1.0)

    assert weir.grad(f)(2.0) == 12
    assert count.value() == 3
    assert capsys.readouterr().out == "trip 0\ntrip 1\ntrip 2\n"


def test_variables_are_constants():
    weight = weir.Variable(3.0)

    def f(x):
        return weir.fori_loop(0, 2, lambda i, y: y * weight.read(), x)

    assert weir.grad(f)(1.0) == 9

    def g(x):
        def step(i, y):
            weight.assign_add(1.0)
            return y * weight.read()

        return weir.fori_loop(0, 2, step, x)

    message = r"variable .* is read at .*test_derivatives_of_control.py:\d+ inside a loop or branch"
    with pytest.raises(weir.NotDifferentiable, match=message):
        weir.grad(g)(1.0)


def test_random_numbers_are_the_same_on_the_way_back():
    def noisy(x):
        def step(i, carry):
            y, noises = carry
            noise = weir.random.normal(seed=5)
            return y * noise, noises.at[i].set(noise)

        return weir.fori_loop(0, 3, step, (x, np.zeros(3, np.float32)))

    def mapped(x):
        def one(i):
            y, noises = noisy(x)
            return y, noises

        return weir.pfor(one, 4)

    def total(x):
        y, noises = mapped(x)
        return wnp.sum(y), noises

    slope, noises = weir.grad(total, has_aux=True)(2.0)
    assert_tree_close(slope, noises.prod(1).sum())
    assert len(np.unique(noises)) == 12


def test_reparameterized_draws():
    def mean(mu, sigma):
        draws = mu + sigma * weir.random.normal((1000,), seed=3)
        return wnp.mean(draws), draws

    (by_mu, by_sigma), draws = weir.grad(mean, (0, 1), has_aux=True)(1.0, 2.0)
    assert_tree_close((by_mu, by_sigma), (np.float32(1), ((draws - 1) / 2).mean()), tol=1e-4)


def test_what_is_gathered_comes_back_by_one_scatter(rng):
    table, ids = rng.normal(size=(50, 4)), rng.integers(0, 50, size=30)

    @weir.jit
    def gradient(table):
        return weir.grad(lambda t: wnp.sum(weir.vmap(lambda i: wnp.sum(t[i] ** 2))(ids)))(table)

    want = np.zeros_like(table)
    np.add.at(want, ids, 2 * table[ids])
    assert_tree_close(gradient(table), want)
    explanation = weir.explain(gradient, table)
    assert not explanation.fallbacks
    # Not a table for each iteration.
    assert "[30,50,4]" not in explanation.text("pfor")


def test_products_of_a_scan_are_summed_behind_it(rng):
    w, xs = rng.normal(size=(6, 4)), rng.normal(size=(10, 4))

    def total(w):
        def step(carry, x):
            return wnp.tanh(w.T @ (w @ carry) + x), None

        return wnp.sum(weir.scan(step, np.zeros(4), xs)[0])

    gradient = weir.jit(weir.grad(total))

    lines = gradient.lower(w).text.splitlines()
    loops = [i for i, line in enumerate(lines) if " = for(" in line]
    assert len(loops) == 2
    (end,) = [i for i, line in enumerate(lines[loops[1] :], loops[1]) if line.startswith("  } loc")]
    # Behind the way back are two products, one for each use of the matrix; inside is no matrix.
    assert sum(" = dot_general(" in line for line in lines[end:]) == 2
    assert not any("f64[6,4]" in line for line in lines[loops[1] : end + 1])


def test_rows_of_a_map_come_back_as_they_are(rng):
    x = rng.normal(size=(30, 4))

    @weir.jit
    def gradient(x):
        return weir.grad(lambda x: wnp.sum(weir.vmap(lambda row: wnp.sum(row**2))(x)))(x)

    assert_tree_close(gradient(x), 2 * x)
    assert "scatter" not in weir.explain(gradient, x).text("pfor")
