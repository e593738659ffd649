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
    with pytest.raises(weir.InvalidArgument, match="updated by sum and by max in one pfor"):
        weir.pfor(lambda i: (value.assign_add(1.0), value.assign_max(i))[:0], 3)
    with pytest.raises(weir.TracingError, match="variable weights is not known while"):
        weir.jit(value.value)()
