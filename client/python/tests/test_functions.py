"""Functions of the program: recursion, what they capture and draw, and what they refuse."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


@weir.function
def fibonacci(n):
    return weir.cond(n < 2, lambda: n, lambda: fibonacci(n - 1) + fibonacci(n - 2))


def fibonacci_of(n):
    return n if n < 2 else fibonacci_of(n - 1) + fibonacci_of(n - 2)


def calls_of(n):
    return 1 if n < 2 else 1 + calls_of(n - 1) + calls_of(n - 2)


def both(body, n):
    """Returns: what a loop gives, after comparing it with the vectorized one, bit by bit."""
    looped = weir.for_loop(body, n)
    for chunk_size in (None, 7):
        batched = weir.pfor(body, n, chunk_size=chunk_size, strict=True)
        for a, b in zip(weir.tree.leaves(batched), weir.tree.leaves(looped)):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    return looped


def test_recursion_alone_and_in_many_lanes():
    assert fibonacci(10) == 55
    numbers = np.random.default_rng(0).integers(0, 13, 256)
    batched = weir.vmap(fibonacci, strict=True)(numbers)
    assert batched.tolist() == [fibonacci_of(int(n)) for n in numbers]
    np.testing.assert_array_equal(both(lambda i: fibonacci(i % 9), 40)[8], 21)


# Of a function with two calls: the test, the base case, what leads to the first call, to the second
# one and to the end. A call goes through four of them, one that ends at once through two. A trip of
# the loop runs what leads from one call or return to the next: three trips for a call, or one.
BLOCKS = 5


def check_launches(explained, whole, base):
    """At most what the blocks and the longest trace allow, counted in blocks and in trips.

    whole, base: how many calls of the longest lane call again, and end at once.
    """
    assert not explained.fallbacks
    per_chunk = explained.counters["kernel_launches"] / explained.counters["chunks"]
    assert per_chunk <= 0.85 * 2 * BLOCKS * (3 * whole + base)
    assert per_chunk <= 0.6 * 2 * BLOCKS * (4 * whole + 2 * base)
    return per_chunk


# Source: "Automatically Batching Control-Intensive Programs for Modern Accelerators": the batch
# costs the blocks times the longest trace, whatever the number of lanes.
def test_launches_do_not_grow_with_lanes():
    launches = []
    for lanes in (64, 1024):
        numbers = np.random.default_rng(1).integers(0, 11, lanes)
        numbers[0] = 10
        explained = weir.explain(
            lambda numbers: weir.vmap(fibonacci, strict=True)(numbers), numbers
        )
        whole = calls_of(10) // 2
        launches.append(check_launches(explained, whole, whole + 1))
    assert launches[1] < 1.3 * launches[0]


class Trees:
    """Random binary trees as rows of arrays; node 0 is the root, -1 is no child."""

    def __init__(self, rng, count, most):
        self.left = np.full((count, most), -1)
        self.right = np.full((count, most), -1)
        self.value = rng.standard_normal((count, most)).astype("f")
        self.sizes = rng.integers(1, most + 1, count)
        for row, size in enumerate(self.sizes):
            for node in range(1, size):
                parent = 0
                while True:
                    side = self.left if rng.integers(2) else self.right
                    if side[row, parent] < 0:
                        side[row, parent] = node
                        break
                    parent = side[row, parent]

    def sum(self, row, node=0):
        if node < 0:
            return np.float32(0)
        left = self.sum(row, self.left[row, node])
        right = self.sum(row, self.right[row, node])
        return self.value[row, node] + (left + right)

    def visits(self, row, node=0):
        """Returns: (calls with a node, calls without one)."""
        if node < 0:
            return 0, 1
        a = self.visits(row, self.left[row, node])
        b = self.visits(row, self.right[row, node])
        return 1 + a[0] + b[0], a[1] + b[1]


def test_sums_of_256_different_trees():
    trees = Trees(np.random.default_rng(2), 256, 24)

    @weir.function
    def total(node, left, right, value):
        def inner():
            below = total(left[node], left, right, value) + total(right[node], left, right, value)
            return value[node] + below

        return weir.cond(node < 0, lambda: np.float32(0), inner)

    def one(left, right, value):
        return total(np.int64(0), left, right, value)

    arrays = (trees.left, trees.right, trees.value)
    batched = weir.vmap(one, strict=True)(*arrays)
    np.testing.assert_array_equal(batched, [trees.sum(row) for row in range(256)])

    def body(i):
        return one(*(wnp.asarray(a)[i] for a in arrays))

    np.testing.assert_array_equal(both(body, 256), batched)
    explained = weir.explain(lambda *arrays: weir.vmap(one, strict=True)(*arrays), *arrays)
    check_launches(explained, *max(map(trees.visits, range(256))))


def test_captured_arrays_are_handed_on():
    trees = Trees(np.random.default_rng(3), 20, 12)

    @weir.jit
    def sums(left, right, value):
        def one(left, right, value):
            scale = wnp.max(value)

            @weir.function
            def total(node):
                return weir.cond(
                    node < 0,
                    lambda: np.float32(0),
                    lambda: value[node] * scale + (total(left[node]) + total(right[node])),
                )

            return total(0) + total(-1)

        return weir.vmap(one, strict=True)(left, right, value)

    got = sums(trees.left, trees.right, trees.value)
    for row in range(20):
        scaled = trees.value[row] * trees.value[row].max()
        scale = Trees.__new__(Trees)
        scale.left, scale.right, scale.value = trees.left, trees.right, {}
        scale.value = np.broadcast_to(scaled, trees.value.shape)
        assert got[row] == scale.sum(row)


def test_a_recursive_tree_lstm():
    rng = np.random.default_rng(4)
    trees = Trees(rng, 32, 15)
    size = 8
    weights = (rng.standard_normal((3 * size, 5 * size)) / size).astype("f")
    words = rng.standard_normal((32, 15, size)).astype("f")
    nothing = (np.zeros(size, "f"), np.zeros(size, "f"))

    def cell(np_, word, left, right):
        gates = np_.split(np_.concatenate([word, left[0], right[0]]) @ np_.asarray(weights), 5)
        i, f, g, o, u = (1 / (1 + np_.exp(-gate)) for gate in gates)
        state = i * (2 * u - 1) + f * left[1] + g * right[1]
        return o * np_.tanh(state), state

    def alone(row, node=0):
        if node < 0:
            return nothing
        children = (alone(row, side[row, node]) for side in (trees.left, trees.right))
        return cell(np, words[row, node], *children)

    def one(left, right, words):
        @weir.function(max_depth=20)
        def encode(node):
            def inner():
                return cell(wnp, words[node], encode(left[node]), encode(right[node]))

            return weir.cond(node < 0, lambda: tuple(map(wnp.asarray, nothing)), inner)

        return encode(0)[0]

    batched = weir.vmap(one, strict=True)(trees.left, trees.right, words)
    np.testing.assert_allclose(batched, [alone(row)[0] for row in range(32)], rtol=2e-5, atol=2e-6)
    looped = weir.for_loop(
        lambda i: one(*(wnp.asarray(a)[i] for a in (trees.left, trees.right, words))), 32
    )
    np.testing.assert_array_equal(batched, looped)


@weir.function
def even(n):
    return weir.cond(n == 0, lambda: True, lambda: odd(n - 1))


@weir.function
def odd(n):
    return weir.cond(n == 0, lambda: False, lambda: even(n - 1))


def test_functions_that_call_each_other():
    assert both(lambda i: (even(i), odd(i)), 9)[0].tolist() == [i % 2 == 0 for i in range(9)]
    # They return what the other one does: no call waits.
    assert even(1001) == False  # noqa: E712


def test_loops_around_and_inside():
    @weir.function
    def leaves(depth, width):
        """The leaves of a tree in which node k of a level has k children."""

        def inner():
            return weir.fori_loop(0, width, lambda k, sum: sum + leaves(depth - 1, k), 0)

        return weir.cond(depth == 0, lambda: 1, inner)

    def leaves_of(depth, width):
        return 1 if depth == 0 else sum(leaves_of(depth - 1, k) for k in range(width))

    got = both(lambda i: weir.fori_loop(0, 3, lambda t, s: s * 10 + leaves(t, i), np.int64(0)), 8)
    for i in range(8):
        sums = [leaves_of(t, i) for t in range(3)]
        assert got[i] == sums[0] * 100 + sums[1] * 10 + sums[2]


def test_a_loop_without_trips_may_be_the_end():
    @weir.function
    def nodes(children, node):
        def step(k, sum):
            return weir.cond(
                children[node, k] > 0, lambda: sum + nodes(children, children[node, k]), lambda: sum
            )

        return weir.fori_loop(0, 2, step, np.int64(1))

    tree = np.array([[1, 2], [0, 3], [0, 0], [0, 0]])
    assert nodes(tree, 0) == 4

    @weir.function
    def down(n):
        return weir.while_loop(lambda c: c[0] > 0, lambda c: (c[0] - 2, c[1] + down(c[0] - 1)),
                               (n, np.float32(1)))[1]  # fmt: skip

    def down_of(n):
        total = 1.0
        while n > 0:
            total += down_of(n - 1)
            n -= 2
        return total

    assert both(down, 10).tolist() == [down_of(n) for n in range(10)]


def test_pytrees_and_lists_go_in_and_out():
    @weir.function
    def collect(state):
        # The numbers of the tree, in order; a list goes through all calls.
        node, numbers = state["node"], state["numbers"]

        def inner():
            left = collect({"node": 2 * node, "numbers": numbers})
            return collect({"node": 2 * node + 1, "numbers": left.push(node)})

        return weir.cond(node > 6, lambda: numbers, inner)

    @weir.jit
    def run(start):
        return weir.vmap(lambda n: collect({"node": n, "numbers": weir.List.empty(8, n)}))(start)

    got = run(np.array([1, 2, 7, 3]))
    assert isinstance(got, weir.List)
    assert got.size.tolist() == [6, 3, 0, 2]
    assert got.elements[0, :6].tolist() == [4, 2, 5, 1, 6, 3]
    assert got.elements[1, :3].tolist() == [4, 2, 5]


def test_draws_belong_to_the_path_of_calls():
    @weir.function
    def walk(depth):
        here = weir.random.uniform(seed=3)

        def inner():
            a, b = walk(depth - 1), walk(depth - 1)
            return wnp.concatenate([here[None], a[:3], b[:3]])

        return weir.cond(depth == 0, lambda: wnp.full(7, here), inner)

    numbers = both(lambda i: (walk(i % 4), walk(i % 4)), 12)
    assert len(np.unique(np.concatenate([x[:, 0] for x in numbers]))) == 24
    first = numbers[0][3]
    assert len(np.unique(first)) == 7, "calls of one function draw different numbers"

    def loop(i):
        return weir.fori_loop(0, 3, lambda t, sum: sum + walk(1) * 10**t, wnp.zeros(7))

    assert len(np.unique(both(loop, 4))) == 4 * 3


def test_checks_and_variables_inside():
    visits = weir.Variable(0)

    @weir.function
    def down(n):
        visits.assign_add(1)
        weir.check(n < 7, "too large")
        return weir.cond(n <= 0, lambda: n, lambda: n + down(n - 1))

    assert weir.vmap(down)(np.array([0, 3, 2])).tolist() == [0, 6, 3]
    assert visits.value() == 8
    with pytest.raises(weir.FailedPrecondition, match="in iteration 1.*too large"):
        weir.vmap(down)(np.array([1, 8, 2]))
    assert visits.value() == 8


def test_functions_without_recursion_are_functions_too():
    @weir.function
    def norm(x):
        return wnp.sqrt(wnp.sum(x * x))

    traced = weir.jit(lambda x, y: norm(x) + norm(y)).lower(np.ones(3, "f"), np.zeros(3, "f"))
    assert traced.text.count("func @") == 2
    assert norm(np.array([3.0, 4.0])) == 5

    class Model:
        scale = 3

        @weir.function
        def power(self, x, n):
            raise AssertionError

    @weir.function(static_argnums=1)
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert power(np.float64(2), 5) == 32


def test_weak_results_bend_to_what_recursion_makes():
    @weir.function
    def halves(n):
        return weir.cond(n < 1, lambda: 0, lambda: 0.5 + halves(n - 1))

    assert halves(3) == 1.5

    @weir.function(results=np.float64(0))
    def given(n):
        return weir.cond(n < 1, lambda: np.float64(1), lambda: given(n - 1) * 2)

    assert given(4) == 16 and given(4).dtype == np.float64


def test_depth_is_limited():
    @weir.function(max_depth=5)
    def count(n):
        return weir.cond(n == 0, lambda: n, lambda: 1 + count(n - 1))

    assert count(5) == 5
    with pytest.raises(weir.FailedPrecondition, match="@count is more than 5 calls.*max_depth"):
        count(6)
    with pytest.raises(weir.FailedPrecondition, match="raise max_depth"):
        weir.vmap(count)(np.arange(8))
    with pytest.raises(ValueError, match="max_depth must be at least 1"):
        weir.function(max_depth=0)(lambda n: n)


def test_recursion_needs_an_end():
    @weir.function
    def endless(n):
        return endless(n - 1) + 1

    @weir.function
    def in_turn(n):
        return weir.cond(n < 0, lambda: in_turn(n), lambda: in_turn(n + 1))

    for function in (endless, in_turn):
        with pytest.raises(weir.TracingError, match=r"every path through .*test_functions.py:\d+"):
            function(3)


def test_results_must_agree():
    @weir.function
    def grows(n):
        return weir.cond(n < 1, lambda: wnp.zeros(2), lambda: wnp.concatenate([grows(n - 1)] * 2))

    with pytest.raises(TypeError, match=r"f32\[4\].*test_functions.py"):
        grows(3)

    @weir.function
    def shrinks(x):
        return weir.cond(x[0] < 1, lambda: x[0], lambda: shrinks(wnp.concatenate([x, x[:1]])))

    with pytest.raises(weir.TracingError, match="a recursive call must have the types"):
        shrinks(np.ones(2, "f"))

    @weir.function(results=np.zeros(3, "f"))
    def other(n):
        return weir.cond(n < 1, lambda: wnp.zeros(2), lambda: wnp.ones(2))

    with pytest.raises(TypeError, match=r"returns f32\[2\].*but f32\[3\]"):
        other(1)


def test_recursion_inside_of_its_own_pfor_is_refused():
    @weir.function
    def spread(n):
        return weir.cond(
            n < 1, lambda: n, lambda: wnp.sum(weir.pfor(lambda i: spread(n - 1), 2)) + n
        )

    with pytest.raises(weir.TracingError, match="inside of its own pfor"):
        spread(3)


def test_arguments_are_arrays():
    with pytest.raises(TypeError, match="argument n of fibonacci is a str"):
        weir.jit(lambda: fibonacci("3"))()
