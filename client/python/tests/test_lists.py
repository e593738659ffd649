"""Lists: what they hold, what they refuse, and models that keep a stack in them."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


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
    "body, message",
    [
        (lambda i: weir.fori_loop(0, i, lambda k, l: l.push(k), weir.List.empty(3, i)).size,
         "in iteration 4.*a list of the capacity 3 is full"),
        (lambda i: weir.List.empty(3, i).push(i).get(i - 3), "no element with this index"),
        (lambda i: weir.List.empty(3, i).pop()[1], "no element with this index"),
    ],
)  # fmt: skip
def test_a_run_fails_where_there_is_no_such_element(body, message):
    with pytest.raises(weir.FailedPrecondition, match=message):
        weir.pfor(body, 5)


def test_elements_of_another_kind_are_refused():
    with pytest.raises(TypeError, match=r"are i64\[\], found f64\[2\]"):
        weir.pfor(lambda i: weir.List.empty(3, i).push(np.zeros(2)).size, 2)
    with pytest.raises(TypeError, match="found f64"):
        weir.pfor(lambda i: weir.List.empty(3, i).push(np.float64(1)).size, 2)
    with pytest.raises(TypeError, match="structure"):
        weir.pfor(lambda i: weir.List.empty(3, i).push((i, i)).size, 2)
    with pytest.raises(ValueError, match="capacity"):
        weir.pfor(lambda i: weir.List.empty(0, i).size, 2)
    with pytest.raises(weir.TracingError, match="outside of a traced function"):
        weir.List.empty(3, 1)


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
