"""Lists outside and inside of bodies.

Origin: section 2.1, the TensorArrayTest, TensorListTest and StackTest of TensorFlow's
control_flow_ops_test.py, and the tests of its while loops that carry arrays.

A list never changes, so what a body writes to one from outside is its own copy; where TensorFlow
writes to one list from all iterations, a program here scatters what the loop returned.
"""

import numpy as np
import pytest
from conftest import assert_same_bits
from oracle import agree, integers, numbers

import weir
import weir.numpy as wnp
from weir import List

LENGTHS = np.int32([4, 0, 2])


class NumpyList:
    """What the bodies below do to a list, with Python's."""

    def __init__(self, capacity, elements):
        self.capacity = capacity
        self.elements = list(elements)

    @classmethod
    def of(cls, rows, capacity=None):
        return cls(capacity or len(rows), rows)

    @classmethod
    def empty(cls, capacity, like):
        made = cls(capacity, [])
        made.like = like
        return made

    def _with(self, elements):
        made = NumpyList(self.capacity, elements)
        made.like = getattr(self, "like", None)
        return made

    @property
    def size(self):
        return np.int64(len(self.elements))

    def get(self, index):
        return self.elements[index]

    def gather(self, indices):
        return np.stack([self.elements[k] for k in indices])

    def set(self, index, element):
        return self.scatter([index], [element])

    def scatter(self, indices, rows):
        elements = list(self.elements)
        for index, row in zip(indices, rows):
            elements[index] = row
        return self._with(elements)

    def push(self, element):
        return self._with([*self.elements, element])

    def pop(self):
        return self._with(self.elements[:-1]), self.elements[-1]

    def stack(self):
        zero = np.zeros_like(self.elements[0] if self.elements else self.like)
        rows = self.elements + [zero] * (self.capacity - len(self.elements))
        return np.stack(rows).astype(zero.dtype)

    def concat(self):
        return np.concatenate(self.stack())


def kind(xp):
    """The class of lists for traced arrays, or for NumPy."""
    return List if xp is wnp else NumpyList


def repeat(xp, condition, step, state):
    """`weir.while_loop`, or Python's own."""
    if xp is wnp:
        return weir.while_loop(condition, step, state)
    while condition(state):
        state = step(state)
    return state


def outside(xp, *tables):
    """Each table as a list made before the loop."""
    return tuple(kind(xp).of(table) for table in tables)


def first_outside(xp, rows, *tables):
    """The first table as a list made before the loop."""
    return (kind(xp).of(rows), *tables)


def with_room(xp, rows, *tables):
    """The first table as a list made before the loop, with room for two rows more."""
    return (kind(xp).of(rows, capacity=len(rows) + 2), *tables)


# --- TensorArrayTest.


def test_tensor_array_outside_read():
    def before(xp, x):
        pairs = kind(xp).of(x[:1], capacity=4)
        return (pairs.push(x[1]).push(x[2]),)

    agree(lambda xp, i, rows: (rows.get(i), rows.get(0), rows.size), numbers(3, 2), before=before)


def test_tensor_array_outside_gather():
    def body(xp, i, rows):
        at = xp.stack([xp.asarray(i)])
        return rows.gather(at), rows.gather(np.array([0, 1])), rows.gather(np.array([-1]))

    agree(body, numbers(3, 2), before=outside)


def test_tensor_array_outside_write():
    def body(xp, i, rows):
        return rows.set(i, rows.get(i) * 2).set(i + 2, rows.get(0)).stack()

    agree(body, numbers(5, 2), before=outside)
    # One list for what all iterations write.
    x = numbers(3, 2)

    @weir.jit
    def written(x):
        rows = List.of(wnp.zeros((6, 2)))
        at = wnp.arange(3)
        rows = rows.scatter(at, weir.pfor(lambda i: x[i], 3, strict=True))
        return rows.scatter(at + 3, weir.pfor(lambda i: x[i] * 2, 3, strict=True)).stack()

    assert_same_bits(written(x), np.concatenate([x, x * 2]))


def test_tensor_array_outside_scatter():
    def body(xp, i, rows, x):
        one, two = xp.stack([xp.asarray(4 + i)]), xp.stack([6 + i, 8 + i])
        new = rows.scatter(one, x[i][None]).scatter(two, x[1:])
        return new.stack(), rows.stack()

    agree(body, numbers(11, 2), numbers(3, 2, seed=8), before=first_outside)


def test_tensor_array_inside_write():
    def body(xp, i, x):
        rows = kind(xp).of(xp.zeros((3, 2), np.float32))
        varying_first = rows.set(0, x[i]).set(1, x[0]).set(-1, x[1])
        varying_last = rows.set(0, x[0]).set(1, x[i])
        return varying_first.stack(), varying_last.stack()

    agree(body, numbers(3, 2))


def test_tensor_array_inside_scatter():
    def body(xp, i, x):
        rows = kind(xp).of(xp.zeros((4, 2), np.float32))
        rows = rows.scatter(np.array([0, 3]), x[:2] * (i + 1))
        return rows.scatter(np.array([1, 2]), x[1:3]).stack()

    agree(body, numbers(3, 2))


def test_tensor_array_inside_read():
    """Both lists are read at both kinds of index; in TensorFlow one of the four ways works."""

    def body(xp, i, x):
        varies, same = kind(xp).of(x[i]), kind(xp).of(x[0])
        return varies.get(0), varies.get(i), same.get(1), same.get(i)

    agree(body, numbers(3, 3, 2))


def test_tensor_array_inside_gather():
    def body(xp, i, x):
        varies, same = kind(xp).of(x[i]), kind(xp).of(x[0])
        at = xp.stack([xp.asarray(i), xp.asarray(i)])
        known = np.array([2, 0])
        return varies.gather(at), varies.gather(known), same.gather(at), same.gather(known)

    agree(body, numbers(3, 3, 2))


# --- TensorListTest.


def test_tensor_list_outside_write():
    def body(xp, i, rows):
        mine = rows.set(i, rows.get(-1)).set(0, rows.get(1) * (i + 1))
        return mine.stack(), mine.size, rows.stack()

    agree(body, integers(3, 2), before=outside)


def test_tensor_list_opaque_op():
    """No function but its own takes a list, and the error says so."""
    x = numbers(3, 2)
    for function in (wnp.sin, lambda rows: rows + 1, lambda rows: wnp.add(1, rows)):
        for strict in (False, True):
            with pytest.raises(TypeError, match=r"(found|operand type.*) '?List"):
                weir.pfor(lambda i: function(List.of(x)), 3, strict=strict)


def test_tensor_list_inside_write():
    def body(xp, i, x):
        rows = kind(xp).of(xp.zeros((3, 2), np.float32))
        rows = rows.set(0, x[i]).set(1, x[0])
        return rows.set(i, rows.get(0) + 1).stack(), rows.stack()

    agree(body, numbers(3, 2))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_tensor_list_outside_read(index):
    def body(xp, i, rows):
        if xp is wnp:
            assert rows.capacity == 5 and rows.elements.shape == (5, 2)
        at = xp.asarray(i).astype(index)
        return rows.get(at), rows.get(0), rows.size

    agree(body, numbers(3, 2), before=with_room)


def test_tensor_list_outside_read_without_iterations():
    for capacity, count in ((4, 3), (1, 0)):
        x = numbers(count, 2)

        def body(i, rows=List.of(x, capacity)):
            return rows.get(i), rows.stack()

        got = weir.pfor(body, 0, strict=True)
        assert_same_bits(got, (np.zeros((0, 2), "f"), np.zeros((0, capacity, 2), "f")))


def test_tensor_list_inside_read():
    def body(xp, i, x):
        rows = kind(xp).of(x[i], capacity=5)
        return rows.get(0), rows.get(2), rows.get(i), rows.get(i - 3), rows.size

    agree(body, numbers(3, 3, 2))


def test_tensor_list_push_back_outside():
    """Each iteration pushes to its own copy."""

    def body(xp, i, rows, x):
        mine = rows.push(x[i]).push(x[0])
        return mine.stack(), mine.size, rows.stack(), rows.size

    agree(body, numbers(2, 2), numbers(3, 2, seed=8), before=with_room)


def test_tensor_list_push_back_inside():
    def body(xp, i, x):
        rows = kind(xp).empty(4, np.zeros(2, np.float32))
        rows = rows.push(x[i]).push(x[0]).push(x[i] * 2)
        return rows.stack(), rows.size

    agree(body, numbers(3, 2))


def test_tensor_list_pop_back_without_shape():
    """The list knows what its elements are; nobody tells `pop`."""

    def body(xp, i, x):
        rest, last = kind(xp).of(x[i]).pop()
        rest, second = rest.pop()
        return last, second, rest.stack(), rest.size

    agree(body, numbers(3, 4, 2))


def test_tensor_list_pop_back_captured():
    def body(xp, i, rows):
        rest, last = rows.pop()
        return last, rest.pop()[1] * (i + 1), rest.size, rows.size

    agree(body, numbers(3, 2), before=outside)


def test_tensor_list_pop_back_with_shape():
    """Elements of more arrays than one, popped in a loop as often as the iteration says."""

    def body(i, x, lengths):
        rows = List.empty(4, {"a": np.zeros((2, 1), "f"), "b": np.int64(0)})
        rows = weir.fori_loop(0, 4, lambda t, l: l.push({"a": x[i, t], "b": t * i}), rows)

        def step(t, state):
            rows, total = state
            rows, last = rows.pop()
            assert last["a"].shape == (2, 1)
            return rows, total + last["a"] * last["b"]

        rows, total = weir.fori_loop(0, lengths[i], step, (rows, wnp.zeros((2, 1))))
        return total, rows.size

    def want(i, x, lengths):
        total = np.zeros((2, 1), np.float32)
        for t in reversed(range(4 - lengths[i], 4)):
            total += x[i, t] * np.float32(t * i)
        return total, np.int64(4 - lengths[i])

    agree(lambda xp, *given: body(*given), numbers(3, 4, 2, 1), LENGTHS, want=want)


def test_tensor_list_scatter_outside():
    def body(xp, i, rows, x):
        return rows.scatter(np.array([1, 3]), x[i]).stack(), rows.stack()

    agree(body, numbers(4, 2), numbers(3, 2, 2), before=first_outside)


def test_tensor_list_scatter_inside():
    def body(xp, i, x):
        rows = kind(xp).of(x[i]).scatter(np.array([2, 0]), x[0, :2])
        return rows.scatter(np.array([-1]), x[i, :1]).stack()

    agree(body, numbers(3, 3, 2))


def test_tensor_list_scatter_variant_indices():
    def body(xp, i, rows, x):
        at = xp.stack([xp.asarray(i), (i + 1) % 3])
        return rows.scatter(at, x[i]).stack(), rows.scatter(at, x[0]).stack()

    agree(body, numbers(4, 2), numbers(3, 2, 2), before=first_outside)


def test_tensor_list_scatter_duplicate_indices():
    """The last one wins."""

    def body(xp, i, rows, x):
        at = xp.stack([xp.asarray(i), xp.asarray(0), xp.asarray(i)])
        return rows.scatter(at, x[i]).stack(), rows.scatter(np.array([1, 1, 1]), x[i]).stack()

    agree(body, numbers(4, 2), numbers(3, 3, 2), before=first_outside)


def test_tensor_list_gather_outside():
    def body(xp, i, rows):
        at = xp.stack([xp.asarray(i), xp.asarray(1), i - 4])
        return rows.gather(at), rows.gather(np.array([2, 2, 0]))

    agree(body, numbers(4, 2), before=outside)


def test_tensor_list_gather_inside():
    def body(xp, i, x):
        rows = kind(xp).of(x[i], capacity=5).push(x[i, 0])
        return rows.gather(xp.stack([xp.asarray(i), xp.asarray(4)])), rows.gather(np.array([1, 0]))

    agree(body, numbers(3, 4, 2))


def test_tensor_list_concat_outside():
    def body(xp, i, rows):
        return rows.concat(), rows.concat() * xp.asarray(i, np.float32)

    agree(body, numbers(3, 2, 4), before=outside)


def test_tensor_list_concat_inside():
    def body(xp, i, x):
        rows = kind(xp).empty(3, np.zeros((2, 2), np.float32))
        return rows.push(x[i]).push(x[0]).concat(), rows.push(x[i]).concat()

    agree(body, numbers(3, 2, 2))


def test_tensor_list_from_tensor():
    def body(xp, i, x):
        varies, same = kind(xp).of(x[i]), kind(xp).of(x[0])
        return varies.get(1), same.get(1), varies.stack(), same.stack(), varies.size

    agree(body, numbers(3, 2, 4))


def test_tensor_list_made_variant_in_a_while():
    """The list is the same for all iterations until the loop writes to it."""

    def before(xp, x):
        return kind(xp).of(x[0]), x

    def body(xp, i, rows, x):
        def step(state):
            t, rows = state
            return t + 1, rows.set(t, x[i, t])

        trips, rows = repeat(xp, lambda state: state[0] < 3, step, (0, rows))
        return rows.stack(), rows.size

    agree(body, numbers(3, 4, 2), before=before)


def test_tensor_list_variant_condition_and_variant_list():
    def body(xp, i, x, lengths):
        def step(state):
            t, rows = state
            return t + 1, rows.push(x[i, t])

        start = kind(xp).empty(5, np.zeros(2, np.float32)).push(x[i, 0])
        trips, rows = repeat(xp, lambda state: state[0] < lengths[i], step, (0, start))
        return rows.stack(), rows.size

    agree(body, numbers(3, 4, 2), LENGTHS)


def test_tensor_list_unknown_element_shape():
    """Elements of which only the run knows how long they are: they are lists themselves."""

    def body(i, x, lengths):
        nothing = List.empty(4, np.zeros(2, np.float32))

        def step(state):
            t, rows = state
            return t + 1, rows.push(List.of(x[i], 4).resize(t))

        start = (0, List.empty(4, nothing))
        _, rows = weir.while_loop(lambda state: state[0] < lengths[i], step, start)
        inner = rows.stack()
        return weir.vmap(List.stack)(inner), inner.size, rows.size

    def want(i, x, lengths):
        stacked, sizes = np.zeros((4, 4, 2), np.float32), np.zeros(4, np.int64)
        for t in range(lengths[i]):
            stacked[t, :t] = x[i, :t]
            sizes[t] = t
        return stacked, sizes, np.int64(lengths[i])

    agree(lambda xp, *given: body(*given), numbers(3, 4, 2), LENGTHS, want=want)


def test_tensor_list_variant_condition_and_invariant_list():
    """All iterations write the same, and each stops at its own trip."""

    def before(xp, x, lengths):
        return kind(xp).of(x[:1], capacity=6), x, lengths

    def body(xp, i, rows, x, lengths):
        def step(state):
            t, rows = state
            return t + 1, rows.push(x[t])

        _, rows = repeat(xp, lambda state: state[0] < lengths[i], step, (0, rows))
        return rows.stack(), rows.size

    agree(body, numbers(4, 2), LENGTHS, before=before)


def _sum_of(xp, *lists):
    if xp is wnp:
        return List.sum_of(lists).stack()
    return np.sum([rows.stack() for rows in lists], axis=0, dtype=np.float32)


def test_tensor_list_add_n():
    def body(xp, i, x):
        one = kind(xp).of(x[i], capacity=3)
        two = kind(xp).of(x[i] * 2, capacity=3)
        return _sum_of(xp, one, two, one)

    agree(body, numbers(3, 2, 4), of_largest=True)


def test_tensor_list_add_n_of_which_one_is_stacked():
    def before(xp, x):
        return kind(xp).of(x[0]), x

    def body(xp, i, rows, x):
        return _sum_of(xp, rows, kind(xp).of(x[i])), _sum_of(xp, rows, rows)

    agree(body, numbers(3, 2, 4), of_largest=True, before=before)


# --- StackTest.


def test_stack_inside_invariant_push():
    def body(xp, i, x):
        stack = kind(xp).empty(4, np.float32(0)).push(x[0]).push(x[1])
        stack, last = stack.pop()
        return last, stack.pop()[1], stack.size

    agree(body, numbers(3))


def test_stack_inside_variant_push():
    def body(xp, i, x):
        stack = kind(xp).empty(4, np.float32(0)).push(x[i]).push(x[0])
        stack = stack.push(x[i] * 2)
        stack, last = stack.pop()
        stack, second = stack.pop()
        return last, second, stack.pop()[1], stack.size

    agree(body, numbers(3))


def test_stack_outside_pop():
    """Every iteration pops the same elements, and the stack outside keeps them."""

    def function(loop, x):
        stack = List.empty(4, np.float32(0)).push(x[0]).push(x[1]).push(x[2])
        stack, last = stack.pop()

        def body(i):
            rest, second = stack.pop()
            return second * 1, rest.pop()[1] + i

        return last, loop(body, 3), stack.pop()[1]

    x = numbers(3)
    got = weir.jit(lambda x: function(lambda b, n: weir.pfor(b, n, strict=True), x))(x)
    assert_same_bits(got, weir.jit(lambda x: function(weir.for_loop, x))(x))
    second, first = np.repeat(x[1], 3), x[0] + np.arange(3, dtype=np.float32)
    assert_same_bits(got, (x[2], (second, first), x[1]))


def test_stack_outside_push():
    """Here it is no error: each iteration goes on with a stack of its own."""

    def body(xp, i, stack, x):
        mine = stack.push(x[i])
        return mine.pop()[1], mine.size, stack.size, stack.stack()

    agree(body, numbers(2), numbers(3, seed=8), before=with_room)


# --- WhileV1Test, WhileV2Test.


def test_tensor_array_as_loop_state():
    def body(xp, i, x):
        def step(state):
            t, rows = state
            return t + 1, rows.set(t, rows.get(t - 1) + x[i])

        rows = kind(xp).of(xp.zeros(5, np.float32))
        return repeat(xp, lambda state: state[0] < 5, step, (0, rows))[1].stack()

    agree(body, numbers(3), of_largest=True)


def test_tensor_array_read_at_divergent_counts():
    def body(xp, i, rows, lengths):
        def step(state):
            t, total = state
            return t + 1, total + rows.get(t) * rows.get(i)

        start = (0, xp.zeros(2, np.float32))
        return repeat(xp, lambda state: state[0] < lengths[i], step, start)

    agree(body, numbers(4, 2), LENGTHS, before=first_outside, of_largest=True)
