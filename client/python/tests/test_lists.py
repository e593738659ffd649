"""Lists: what they hold, what they refuse, and models that keep a stack in them."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_elements_come_back_in_any_order():
    @weir.jit
    def squares(count):
        def step(k, squares):
            return squares.push((k * k, wnp.ones(2) * k))

        full = weir.fori_loop(0, count, step, weir.List.empty(8, (np.int64(0), np.zeros(2, "f"))))
        rest, (last, ones) = full.pop()
        changed = rest.set(0, (np.int64(-1), np.zeros(2, "f")))
        return last, ones, changed.get(0)[0], changed.top()[0], rest.get(0)[0], full.size, rest.size

    last, ones, changed, top, first, full, rest = squares(5)
    assert (last, changed, top, first, full, rest) == (16, -1, 9, 0, 5, 4)
    np.testing.assert_array_equal(ones, [4, 4])


def test_iterations_have_lists_of_their_own():
    def body(i):
        numbers = weir.fori_loop(0, i, lambda k, l: l.push(10 * i + k), weir.List.empty(4, i))
        return numbers, weir.fori_loop(0, i, lambda k, s: s + numbers.get(k), np.int64(0))

    numbers, sums = weir.pfor(body, 5)
    assert isinstance(numbers, weir.List)
    np.testing.assert_array_equal(numbers.size, [0, 1, 2, 3, 4])
    for i in range(5):
        np.testing.assert_array_equal(numbers.elements[i, :i], 10 * i + np.arange(i))
    np.testing.assert_array_equal(sums, [sum(10 * i + k for k in range(i)) for i in range(5)])


@pytest.mark.parametrize(
    "body, succeed, message",
    [
        (lambda i: weir.fori_loop(0, i, lambda k, l: l.push(k), weir.List.empty(3, i)).size, 4,
         "a list of the capacity 3 is full"),
        (lambda i: weir.List.of(X).get(i), 3, "no element with this index"),
        (lambda i: weir.List.of(X).get(-i - 1), 3, "no element with this index"),
        (lambda i: weir.List.of(X).resize(3 - i).get(1), 2, "no element with this index"),
        (lambda i: weir.List.of(X).resize(3 - i)[-2], 2, "no element with this index"),
        (lambda i: weir.List.of(X).set(i, X[0]).size, 3, "no element with this index"),
        (lambda i: weir.List.of(X).gather(wnp.arange(2) + i), 2, "no element with this index"),
        (lambda i: weir.List.of(X).scatter(wnp.arange(2) + i, X[:2]).size, 2, "no element"),
        (lambda i: weir.List.of(X, 5).resize(i).extend(X).size, 3, "capacity 5 has no room"),
        (lambda i: weir.List.of(X, 8).extend(weir.List.of(X, 8).resize(i + 3)).size, 3, "no room"),
        (lambda i: weir.List.of(X).resize(i).size, 4, "capacity 3 cannot have this size"),
        (lambda i: weir.List.of(X).resize(2 - i).size, 3, "capacity 3 cannot have this size"),
        (lambda i: weir.List.of(X).resize(i).with_capacity(2).size, 3, "than the capacity 2"),
        (lambda i: weir.List.sum_of([weir.List.of(X), weir.List.of(X).resize(3 - i)]).size, 1,
         "differ in size"),
        (lambda i: weir.List.empty(3, i).push(i).resize(1 - i).pop()[1], 1, "no element"),
        (lambda i: weir.List.empty(3, i).push(i).resize(1 - i).top(), 1, "no element"),
    ],
)  # fmt: skip
def test_a_run_fails_where_there_is_no_such_element(body, succeed, message):
    weir.pfor(body, succeed, strict=True)
    with pytest.raises(weir.FailedPrecondition, match=rf"in iteration {succeed}\b.*{message}"):
        weir.pfor(body, succeed + 1)


def test_elements_of_another_kind_are_refused():
    with pytest.raises(TypeError, match=r"are i64\[\], found f64\[2\]"):
        weir.pfor(lambda i: weir.List.empty(3, i).push(np.zeros(2)).size, 2)
    with pytest.raises(TypeError, match="found f64"):
        weir.pfor(lambda i: weir.List.empty(3, i).push(np.float64(1)).size, 2)
    with pytest.raises(TypeError, match="structure"):
        weir.pfor(lambda i: weir.List.empty(3, i).push((i, i)).size, 2)
    with pytest.raises(ValueError, match="capacity"):
        weir.pfor(lambda i: weir.List.empty(0, i).size, 2)


def rows_of(given):
    """Returns: the elements of a list of NumPy arrays."""
    return np.array(list(given)).tolist()


def test_lists_outside_of_functions_are_ones_of_numpy_arrays():
    given = weir.List.empty(4, np.float32(0)).push(3).push(5)
    assert isinstance(given.elements, np.ndarray) and given.capacity == 4
    assert len(given) == 2 and given and rows_of(given) == [3, 5]
    given, last = given.push(7).pop()
    assert last == 7 and given.top() == 5 and given[0] == 3 and given[-2] == 3
    assert not weir.List.empty(4, 1)
    assert repr(given) == "weir.List(2 elements, capacity 4, rows f32[])"
    pairs = weir.List.of({"a": X, "b": (np.arange(3),)})
    assert [pair["b"][0] for pair in pairs] == [0, 1, 2] and len(pairs) == 3
    assert repr(pairs) == "weir.List(3 elements, capacity 3, rows {a: f32[2], b: (i64[],)})"
    # A function takes and returns them, and each size has the same program.
    doubled = weir.jit(lambda given: given.push(given[0] * 2))
    assert rows_of(doubled(given)) == [3, 5, 6] and rows_of(doubled(doubled(given))) == [3, 5, 6, 6]


def test_many_elements_at_once():
    given = weir.List.of(X, capacity=6)
    assert rows_of(given.extend(X[:2] + 9)) == [*X.tolist(), [9, 10], [11, 12]]
    assert rows_of(given.extend(X[:0])) == X.tolist()
    short = weir.List.of(X * 2, capacity=5).resize(2)
    assert rows_of(given.extend(short)) == [*X.tolist(), [0, 2], [4, 6]]
    # What lies behind the last element of either list is no part of the result.
    assert given.extend(short).stack()[5:].tolist() == [[0, 0]]
    assert given.extend(short).extend(weir.List.empty(9, X[0])).stack()[5:].tolist() == [[0, 0]]
    assert short.concat().tolist() == [0, 2, 4, 6, 0, 0, 0, 0, 0, 0]
    assert weir.List.of(X[0]).gather(np.array([-1, 0, 1])).tolist() == [1, 0, 1]
    assert weir.List.of(X).gather(np.zeros(0, np.int64)).shape == (0, 2)


def test_sizes_and_capacities_change():
    given = weir.List.of(X)
    assert given.resize(1).stack().tolist() == [[0, 1], [0, 0], [0, 0]]
    # What had been cut off does not come back.
    assert rows_of(given.resize(1).resize(3)) == [[0, 1], [0, 0], [0, 0]]
    larger = given.with_capacity(5)
    assert larger.capacity == 5 and rows_of(larger.push(X[1])) == [*X.tolist(), [2, 3]]
    assert rows_of(larger.resize(2).with_capacity(2)) == X[:2].tolist()
    assert given.with_capacity(3).capacity == 3
    assert weir.List.of(X[:0]).capacity == 1 and len(weir.List.of(X[:0])) == 0

    def body(i):
        rows = weir.List.of(wnp.array(X)).resize(i).with_capacity(4)
        return rows.push(wnp.array(X)[i]).stack()

    got = weir.pfor(body, 3, strict=True)
    for i in range(3):
        np.testing.assert_array_equal(got[i], [*X[:i], X[i], *np.zeros((3 - i, 2))])


def test_lists_of_lists():
    """Elements of different lengths: a list of lists is one of pytrees."""

    def divisors(number):
        def test(k, found):
            return weir.cond(number % k == 0, lambda l: l.push(k), lambda l: l, found)

        return weir.fori_loop(1, number + 1, test, weir.List.empty(8, np.int64(0)))

    def body(i):
        start = weir.List.empty(4, weir.List.empty(8, np.int64(0)))
        return weir.fori_loop(1, i + 1, lambda k, lists: lists.push(divisors(6 * k)), start)

    made = weir.pfor(body, 3, strict=True)
    want = [[], [[1, 2, 3, 6]], [[1, 2, 3, 6], [1, 2, 3, 4, 6, 12]]]
    assert [[rows_of(inner) for inner in outer] for outer in made.split()] == want
    with pytest.raises(ValueError, match="one list already"):
        weir.List.of(X).split()


def test_lists_of_all_examples():
    """What comes out of vmap goes into one, and is not taken for one list."""
    lists = weir.vmap(lambda x: weir.List.of(x, 3).push(x[0]))(X)
    assert lists.size.tolist() == [3, 3, 3] and lists.capacity == 3
    assert weir.vmap(lambda one: one[-1] + one.capacity)(lists).tolist() == [3, 5, 7]
    assert [rows_of(one) for one in lists.split()] == [[0, 1, 0], [2, 3, 2], [4, 5, 4]]
    for use in (len, bool, iter, lambda l: l[0], lambda l: l.push(1), lambda l: l.stack()):
        with pytest.raises(TypeError, match=r"of 3 examples .*test_lists.py:\d+\); weir.vmap"):
            use(lists)


@pytest.mark.parametrize(
    "use, error, message",
    [
        (len, weir.TracingError, r"len\(\) of a traced list at .*test_lists.py:\d+ .*list.size is"),
        (list, weir.TracingError, "iteration over a traced list .*weir.fori_loop"),
        (lambda l: 1 if l else 0, weir.TracingError, "condition on a traced list .*weir.cond"),
        (lambda l: 3 in l, TypeError, r"not say what is in it at .*test_lists.py.*list.stack"),
        (lambda l: l.__setitem__(0, 1), TypeError, "list = list.set.*test_lists.py"),
        (lambda l: l[0:2], TypeError, r"one integer, found slice.*test_lists.py:\d+\); gather"),
        (lambda l: l[3], IndexError, r"capacity 3 never has .* index 3 \(.*test_lists.py:\d+\)"),
        (lambda l: l[-4], IndexError, "never has .* index -4"),
        (lambda l: l.get(1.0), TypeError, "index of a list must be an integer scalar, found 1.0"),
        (lambda l: l[True], TypeError, "an integer scalar, found True"),
        (lambda l: l.get(l.get(0)), TypeError, r"integer scalar, found f32\[2\] made by gather"),
        (lambda l: l.get(np.arange(2)), TypeError, "an integer scalar"),
        (lambda l: l.gather(0), TypeError, "indices of a list must be integers with one axis"),
        (lambda l: l.set(0, X), TypeError, r"are f32\[2\], found f32\[3,2\].*lists.py:\d+"),
        (lambda l: l.scatter(np.arange(2), X), TypeError, r"rows .* are f32\[2, 2\], found f32\[3"),
        (lambda l: l.extend(X[:, :1]), TypeError, r"rows .* are f32\[3, 2\], found f32\[3,1\]"),
        (lambda l: l.extend((X, X)), TypeError, r"the structure \*, found \(\*, \*\)"),
        (lambda l: l.extend(1.0), ValueError, "rows has no axis for the elements"),
        (lambda l: l.with_capacity(l.size), TypeError, r"known while tracing, found i64\[\]"),
        (lambda l: l.with_capacity(0), ValueError, "capacity of 1 at least, found 0"),
        (lambda l: l.resize(1.5), TypeError, "size of a list must be an integer scalar"),
        (lambda l: weir.List.of(X, 2), ValueError, "capacity 2 has no room for 3 rows"),
        (lambda l: weir.List.of((X, X[:2])), ValueError, r"3: rows\[0\]; 2: rows\[1\]"),
        (lambda l: weir.List.of([1, 2]), ValueError, r"rows\[0\] has no axis"),
        (lambda l: weir.List.of([]), ValueError, "no array"),
        (lambda l: weir.List.empty(2, ()), ValueError, "needs an array or a number"),
        (lambda l: weir.List.of(X[0]).concat(), TypeError, "have none .*stack makes an array"),
        (lambda l: weir.List.sum_of([]), ValueError, "a list at least"),
        (lambda l: weir.List.sum_of([l, weir.List.of(X, 4)]), ValueError, "capacity 3.*capacity 4"),
    ],
)  # fmt: skip
def test_what_lists_refuse(use, error, message):
    with pytest.raises(error, match=message):
        weir.jit(lambda x: weir.tree.leaves(use(weir.List.of(x))))(X)


def test_negative_indices_count_from_the_end():
    def body(i):
        rows = weir.List.of(wnp.arange(4)).resize(i + 1)
        changed = rows.set(-1 - i, 9)
        return rows[-1], rows[-i - 1], changed[0], rows.gather(wnp.stack([-1, -i - 1]))

    got = weir.pfor(body, 4, strict=True)
    for a, b in zip(got, ([0, 1, 2, 3], [0] * 4, [9] * 4, [[k, 0] for k in range(4)])):
        np.testing.assert_array_equal(a, b)


CAPTURED = weir.List(np.concatenate([X, X[:1]]), np.int64(3))  # made without a session


@pytest.mark.parametrize(
    "use",
    [
        lambda l, i: l.get(i % 3),
        lambda l, i: l[-1],
        lambda l, i: l.set(i % 3, l[0]).stack(),
        lambda l, i: l.push(l[i % 3]).stack(),
        lambda l, i: l.pop(),
        lambda l, i: l.gather(wnp.stack([i % 3, 0])),
        lambda l, i: l.scatter(np.array([0, 2]), X[1:]).stack(),
        lambda l, i: l.extend(X[:1]).stack(),
        lambda l, i: l.resize(1).extend(l).stack(),
        lambda l, i: l.concat(),
        lambda l, i: l.resize(i % 4).stack(),
        lambda l, i: l.with_capacity(7).stack(),
        lambda l, i: l.with_capacity(3).stack(),
        lambda l, i: weir.List.sum_of([l, l]).stack(),
        lambda l, i: weir.cond(i > 1, lambda: l, lambda: l.push(l[0])).stack(),
        lambda l, i: weir.List.of(l.elements, 6).stack(),
        lambda l, i: weir.List.empty(2, l).push(l)[0].stack(),
    ],
)
def test_lists_of_numpy_arrays_that_functions_capture(use):
    """They are constants, and give what the same list as an argument gives."""
    captured = weir.pfor(lambda i: use(CAPTURED, i), 5, strict=True)
    given = weir.jit(lambda l: weir.pfor(lambda i: use(l, i), 5, strict=True))(CAPTURED)
    for a, b in zip(weir.tree.leaves(captured), weir.tree.leaves(given), strict=True):
        np.testing.assert_array_equal(a, b)


def random_tree(rng, leaves):
    """Returns: a binary tree whose leaves are word numbers."""
    if leaves == 1:
        return int(rng.integers(20))
    left = int(rng.integers(1, leaves))
    return random_tree(rng, left), random_tree(rng, leaves - left)


def actions(tree):
    """Returns: what a shift-reduce parser does: a word to shift, -1 to reduce."""
    return [tree] if isinstance(tree, int) else [*actions(tree[0]), *actions(tree[1]), -1]


class TreeLstm:
    """A binary Tree-LSTM (Tai, Socher, Manning, ACL 2015, N-ary with N = 2) over NumPy or traced
    arrays.
    """

    def __init__(self, rng, size):
        self.words = rng.standard_normal((20, size)).astype("f")
        self.weights = (rng.standard_normal((2 * size, 5 * size)) / size).astype("f")

    def leaf(self, np_, word):
        embedded = np_.asarray(self.words)[word]
        return np_.tanh(embedded), embedded

    def node(self, np_, left, right):
        gates = np_.split(np_.concatenate([left[0], right[0]]) @ np_.asarray(self.weights), 5)
        i, f, g, o, u = (1 / (1 + np_.exp(-gate)) for gate in gates)
        cell = i * (2 * u - 1) + f * left[1] + g * right[1]
        return o * np_.tanh(cell), cell

    def of_tree(self, tree):
        if isinstance(tree, int):
            return self.leaf(np, tree)
        return self.node(np, self.of_tree(tree[0]), self.of_tree(tree[1]))

    def of_actions(self, program, length):
        def step(k, stack):
            action = program[k]

            def reduce(stack):
                stack, right = stack.pop()
                stack, left = stack.pop()
                return stack.push(self.node(wnp, left, right))

            def shift(stack):
                return stack.push(self.leaf(wnp, action))

            return weir.cond(action < 0, reduce, shift, stack)

        zeros = np.zeros(self.words.shape[1], "f")
        return weir.fori_loop(0, length, step, weir.List.empty(16, (zeros, zeros))).top()[0]


def test_a_shift_reduce_tree_lstm_runs_many_trees_at_once():
    rng = np.random.default_rng(3)
    trees = [random_tree(rng, int(rng.integers(1, 16))) for _ in range(256)]
    programs = np.full((len(trees), 31), -1)
    lengths = np.array([len(actions(tree)) for tree in trees])
    for row, tree in zip(programs, trees):
        row[: len(actions(tree))] = actions(tree)
    model = TreeLstm(rng, 8)

    def body(i):
        return model.of_actions(wnp.asarray(programs)[i], wnp.asarray(lengths)[i])

    batched = weir.pfor(body, len(trees), strict=True)
    np.testing.assert_array_equal(batched, weir.for_loop(body, len(trees)))
    expected = np.stack([model.of_tree(tree)[0] for tree in trees])
    np.testing.assert_allclose(batched, expected, rtol=2e-5, atol=2e-6)
