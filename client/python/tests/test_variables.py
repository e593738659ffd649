"""Variables: what runs read, and what they leave."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


def count_trips(loop, lengths, counter, **options):
    """Counts the trips of one while loop in each iteration."""

    def body(i):
        def step(k):
            counter.assign_add(1)
            return k + 1

        return weir.while_loop(lambda k: k < wnp.asarray(lengths)[i], step, 0)

    return loop(body, len(lengths), **options)


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_iterations_that_are_done_count_no_more(loop):
    counter = weir.Variable(0, "counter")
    lengths = np.array([4, 0, 2])
    np.testing.assert_array_equal(count_trips(loop, lengths, counter), lengths)
    assert counter.value() == 6
    count_trips(loop, lengths, counter)
    assert counter.value() == 12


@pytest.mark.parametrize("options", [{"chunk_size": 1}, {"chunk_size": 2}, {"strict": True}])
def test_chunks_and_strict_make_no_difference(options):
    counter = weir.Variable(np.int64(5))
    count_trips(weir.pfor, np.array([4, 0, 2, 7, 1]), counter, **options)
    assert counter.value() == 19


@pytest.mark.parametrize("n", [0, 1, 5])
def test_each_kind_of_update(n):
    values = np.arange(5.0)[::-1] - 2
    variables = [weir.Variable(np.float64(1)) for _ in range(4)]
    total, rest, largest, smallest = variables

    def body(i):
        x = wnp.asarray(values)[i]
        total.assign_add(x)
        rest.assign_sub(x)
        largest.assign_max(x)
        smallest.assign_min(x)

    weir.pfor(body, n)
    taken = np.append(values[:n], 1.0)
    assert total.value() == 1 + values[:n].sum()
    assert rest.value() == 1 - values[:n].sum()
    assert largest.value() == taken.max()
    assert smallest.value() == taken.min()


def test_branches_update_for_their_own_iterations():
    odd, even = weir.Variable(0), weir.Variable(0)

    def body(i):
        weir.cond(i % 2 == 1, lambda: odd.assign_add(i), lambda: even.assign_max(i))

    weir.pfor(body, 6)
    assert odd.value() == 1 + 3 + 5
    assert even.value() == 4


def test_vmap_adds_rows():
    weights = weir.Variable(np.zeros(2), "weights")
    rows = np.arange(6.0).reshape(3, 2)

    @weir.jit
    def add(rows):
        before = weights.read()
        weir.vmap(weights.assign_add)(rows)
        return before, weights.read()

    before, after = add(rows)
    np.testing.assert_array_equal(before, np.zeros(2))
    np.testing.assert_array_equal(after, rows.sum(0))
    np.testing.assert_array_equal(weights.value(), rows.sum(0))


def test_a_read_behind_an_update_sees_all_iterations():
    largest = weir.Variable(0)

    def body(i):
        before = largest.read()
        largest.assign_max(i)
        return before, largest.read()

    before, after = weir.pfor(body, 4)
    np.testing.assert_array_equal(before, [0, 0, 0, 0])
    np.testing.assert_array_equal(after, [3, 3, 3, 3])


def test_nested_loops_add_up():
    total = weir.Variable(0)

    def outer(i):
        weir.pfor(lambda j: total.assign_add(i + j), 3)
        weir.fori_loop(0, i, lambda k, carry: (total.assign_add(k), carry)[1], 0)

    weir.pfor(outer, 4)
    expected = sum(i + j for i in range(4) for j in range(3))
    assert total.value() == expected + sum(k for i in range(4) for k in range(i))


def test_assign_in_a_loop_and_in_a_branch():
    value = weir.Variable(1)

    @weir.jit
    def double(times):
        def step(k, carry):
            weir.cond(k % 2 == 0, lambda: value.assign(value.read() * 2), lambda: None)
            return carry

        weir.fori_loop(0, times, step, 0)
        return value.read()

    assert double(5) == 8
    assert double(2) == 16
    assert value.value() == 16


def test_updates_outside_of_functions_happen_at_once():
    value = weir.Variable([1.0, 2.0])
    value.assign_add(1)
    value.assign_min(np.array([5.0, 0.5]))
    np.testing.assert_array_equal(value.read(), [2.0, 0.5])
    value.assign(3)
    np.testing.assert_array_equal(value.value(), [3.0, 3.0])
    assert value.shape == (2,) and value.dtype == np.float64


def test_a_run_that_fails_changes_nothing():
    value = weir.Variable(1)

    @weir.jit
    def fails(x):
        value.assign_add(1)
        weir.check(x < 0, "must be negative")

    with pytest.raises(weir.FailedPrecondition, match="must be negative"):
        fails(3)
    assert value.value() == 1
    fails(-3)
    assert value.value() == 2


def test_two_variables_of_one_name_are_two():
    a, b = weir.Variable(1, "v"), weir.Variable(2, "v")

    @weir.jit
    def swap(v):
        old = a.read()
        a.assign(b.read())
        b.assign(old + v)

    swap(10)
    assert (a.value(), b.value()) == (2, 11)


def test_checks_in_a_body_without_results_are_made():
    with pytest.raises(weir.FailedPrecondition, match="in iteration 3"):
        weir.pfor(lambda i: weir.check(i < 3, "too far"), 5)


def test_errors_name_variable_value_and_line():
    value = weir.Variable(np.zeros(2), "weights")
    with pytest.raises(weir.TracingError, match=r"variable weights is assigned f64\[2\].*\.py:"):
        weir.pfor(lambda i: value.assign(i * np.ones(2)), 3)
    with pytest.raises(ValueError, match=r"weights has shape \(2,\) and cannot take f64\[5\].*py:"):
        weir.pfor(lambda i: value.assign_add(wnp.zeros(5, "float64")), 3)
    with pytest.raises(TypeError, match="weights is f64 and cannot take c64"):
        value.assign_add(np.complex64(1j))
    with pytest.raises(weir.InvalidArgument, match="updated by sum and updated by max in one pfor"):
        weir.pfor(lambda i: (value.assign_add(1.0), value.assign_max(i))[:0], 3)
    with pytest.raises(weir.TracingError, match="variable weights is not known while"):
        weir.jit(value.value)()


def assigned(mode, n, loop=weir.pfor, start=100.0, **options):
    """Lets odd iterations assign twice, in a branch and in a loop; returns what is left."""
    value = weir.Variable(np.float64(start))

    def body(i):
        weir.cond(i % 2 == 1, lambda: value.assign(i * 1.0, mode), lambda: None)

        def step(k, x):
            value.assign(x + k, mode)
            return x

        weir.fori_loop(0, wnp.where(i % 2 == 1, i, 0), step, i * 10.0)

    loop(body, n, **options)
    return value.value()


@pytest.mark.parametrize("options", [{}, {"chunk_size": 2}, {"strict": True}])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_assignments_of_iterations_meet(n, options):
    # Iteration i ends with 11 i - 1.
    left = [i * 10.0 + i - 1 for i in range(1, n, 2)]
    assert assigned("last", n, **options) == (left[-1] if left else 100)
    assert assigned("mean", n, **options) == (np.mean(left) if left else 100)
    assert assigned("sum", n, **options) == (sum(left) if left else 100)
    assert assigned("last", n, weir.for_loop) == (left[-1] if left else 100)
    if "strict" not in options:
        assert assigned("ordered", n, **options) == (left[-1] if left else 100)


def weighed(mode, xs, chunk_size):
    """Lets rows above 0 assign a function of themselves; returns rows of results, what is left."""
    value = weir.Variable(np.full(3, 7, np.float32))

    def one(x):
        def assign():
            value.assign(wnp.stack([x, x * x, wnp.sum(wnp.sort(x * wnp.arange(40.0)))]), mode)

        weir.cond(x > 0, assign, lambda: None)
        return x - value.read() if mode == "ordered" else x + 1

    rows = weir.vmap(one, chunk_size=chunk_size)(xs)
    return np.asarray(rows), np.asarray(value.value())


@pytest.mark.parametrize("n", [0, 1, 300])
@pytest.mark.parametrize("mode", ["last", "mean", "sum", "ordered"])
def test_assignments_have_the_same_bits_in_chunks_and_within_a_budget(mode, n):
    xs = np.random.default_rng(4).standard_normal(n).astype(np.float32)
    rows, left = weighed(mode, xs, None)
    above = xs.astype(np.float64)[xs > 0]
    each = [np.array([x, x * x, np.sort(x * np.arange(40)).sum()]) for x in above]
    meaning = {"last": lambda a: a[-1], "ordered": lambda a: a[-1]}
    meaning |= {"mean": lambda a: np.mean(a, 0), "sum": lambda a: np.sum(a, 0)}
    np.testing.assert_allclose(left, meaning[mode](each) if each else np.full(3, 7), rtol=1e-4)
    assert len(rows) == n
    for budget in (None, 16384):
        for workers in (1, 2):
            with weir.connect(workers=workers, memory_budget=budget):
                for chunk_size in (None, 2, 256):
                    got, value = weighed(mode, xs, chunk_size)
                    np.testing.assert_array_equal(got, rows)
                    np.testing.assert_array_equal(value, left)


def test_an_assignment_is_seen_where_all_iterations_meet():
    value = weir.Variable(np.float32(7))

    def body(i):
        before = value.read()
        value.assign(before + i, "mean")
        return before, value.read()

    before, after = weir.pfor(body, 3, strict=True)
    np.testing.assert_array_equal(before, [7, 7, 7])
    np.testing.assert_array_equal(after, [8, 8, 8])
    assert value.value() == 8


def test_a_loop_inside_assigns_once_for_each_iteration_around():
    value = weir.Variable(np.zeros(2))

    weir.pfor(
        lambda i: weir.pfor(lambda j: value.assign(wnp.ones(2) * (10 * i + j), "sum"), 3), 2
    )
    np.testing.assert_array_equal(value.value(), [36, 36])
    weir.pfor(
        lambda i: weir.pfor(
            lambda j: value.assign(wnp.ones(2) * (10 * i + j), "mean"), i, capacity=4
        ).size,
        3,
    )
    # Of no iteration, of one and of two: the mean of 10 and 20.5.
    np.testing.assert_array_equal(value.value(), [15.25, 15.25])


def test_means_of_halves_are_made_in_single_precision():
    values = np.array([2048, 1, 1], np.float16)
    value = weir.Variable(np.float16(0))
    weir.vmap(lambda x: value.assign(x, "mean"))(values)
    assert value.value() == np.float16(2050 / 3)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_ordered_assignments_see_those_before(loop, n):
    total = weir.Variable(np.int64(3))

    def body(i):
        square = i * i
        before = total.read()
        weir.cond(before % 2 == 0, lambda: total.assign(before + square, "ordered"), lambda: None)
        total.assign(total.read() + 1, "ordered")
        return before, total.read() * 2

    before, doubled = loop(body, n)
    expected, now = [], 3
    for i in range(n):
        expected.append(now)
        now += i * i if now % 2 == 0 else 0
        now += 1
    np.testing.assert_array_equal(before, expected)
    np.testing.assert_array_equal(doubled, np.array((expected + [now])[1:]) * 2)
    assert total.value() == now


def test_only_what_lies_between_runs_in_order():
    total = weir.Variable(np.float64(0))
    rows = np.arange(12.0).reshape(4, 3)

    def body(row):
        norm = wnp.sqrt((row * row).sum())
        total.assign(total.read() + norm, "ordered")
        return wnp.exp(-total.read()) * row

    explanation = weir.explain(weir.vmap(body), rows)
    assert [f["op"] for f in explanation.fallbacks] == ["assign_variable"]
    assert "in the order of iterations" in explanation.fallbacks[0]["reason"]
    assert "test_variables.py" in explanation.fallbacks[0]["location"]
    in_order = explanation.text("state").split("for(")[1].split("} : ")[0]
    assert "sqrt" not in in_order and "exp" not in in_order
    with pytest.raises(weir.InvalidArgument, match=r"strict(.|\n)*assign_variable .*\.py:"):
        weir.vmap(body, strict=True)(rows)
    total.assign(0.0)
    got = weir.vmap(body)(rows)
    sums = np.cumsum(np.linalg.norm(rows, axis=1))
    np.testing.assert_allclose(got, np.exp(-sums)[:, None] * rows, rtol=1e-12)


def test_ordered_in_loops_inside_and_with_counts():
    log = weir.Variable(np.zeros(8, np.int64))
    at = weir.Variable(np.int64(0))

    def note(number):
        log.assign(log.read().at[at.read()].set(number), "ordered")
        at.assign(at.read() + 1, "ordered")

    def body(i):
        weir.pfor(lambda j: note(10 * i + j), i, capacity=4)

    weir.pfor(body, 4)
    np.testing.assert_array_equal(log.value()[:6], [10, 20, 21, 30, 31, 32])
    assert at.value() == 6


def test_modes_that_cannot_be():
    value = weir.Variable(np.int64(0), "v")
    with pytest.raises(TypeError, match=r"variable v is i64, which has no mean .*py:"):
        weir.pfor(lambda i: value.assign(i, "mean"), 3)
    with pytest.raises(ValueError, match="mode must be one of last, mean, sum, ordered"):
        value.assign(1, mode="first")
    with pytest.raises(weir.TracingError, match="with mode sum in a for_loop .*py:"):
        weir.for_loop(lambda i: value.assign(i, "sum"), 3)
    with pytest.raises(weir.InvalidArgument, match="assigned with mode last and updated by sum"):
        weir.pfor(lambda i: (value.assign(i, "last"), value.assign_add(i))[:0], 3)
    with pytest.raises(weir.InvalidArgument, match="reduces over the iterations .*variable 'v'"):
        weir.pfor(lambda i: value.assign(weir.psum(value.read() + i), "ordered"), 3)
    other = weir.Variable(np.int64(0), "w")

    def both(i):
        def body():
            other.assign(value.read(), "last")
            value.assign(i, "ordered")

        weir.cond(i > 1, body, lambda: None)

    with pytest.raises(weir.InvalidArgument, match="variable 'w' is assigned between .* 'v'"):
        weir.pfor(both, 3)


def test_a_branch_does_not_see_what_the_other_wrote():
    value = weir.Variable(np.int64(0))

    def body(i):
        return weir.cond(i > 1, lambda: (value.assign_add(1), i)[1], value.read)

    with pytest.raises(weir.InvalidArgument, match="in a branch or loop of a pfor that writes it"):
        weir.pfor(body, 3)


def test_outside_of_loops_every_mode_assigns():
    value = weir.Variable(np.float64(1))
    for mode in (None, "last", "mean", "sum", "ordered"):
        value.assign(value.value() + 1, mode)
    assert value.value() == 6


def test_bits_do_not_depend_on_the_number_of_workers():
    values = np.random.default_rng(0).standard_normal(600).astype(np.float32)

    def run(workers):
        mean, total = weir.Variable(np.float32(1), "mean"), weir.Variable(np.float32(1), "total")
        chain = weir.Variable(np.float32(1), "chain")

        def body(i):
            v = wnp.asarray(values)[i]
            a = weir.cond(v > 0, lambda: weir.psum(v), lambda: weir.pmean(v * 2))
            b = weir.fori_loop(0, i % 3, lambda k, s: s + weir.psum(s) * 1e-3, v)
            mean.assign(a + b, "mean")
            weir.cond(v > 1, lambda: total.assign(b, "sum"), lambda: None)
            chain.assign(chain.read() * 0.99 + b, "ordered")
            return a, b, chain.read()

        with weir.connect(workers=workers):
            results = weir.pfor(body, len(values))
        return [np.asarray(x).tobytes() for x in results] + [
            variable.value().tobytes() for variable in (mean, total, chain)
        ]

    expected = run(1)
    assert run(2) == expected
    assert run(3) == expected
