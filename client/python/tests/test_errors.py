"""What a traced array cannot do, and where errors point."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def _if(x):
    return 1 if x.sum() > 0 else 2


def _while(x):
    while x[0, 0] < 3:
        x = x + 1
    return x


def _range(x):
    return [i for i in range(x)]


def _assign(x):
    x[0] = 1
    return x


def _numpy_index(x):
    return np.arange(3)[x]


# fmt: off
CASES = [
    (_if, X, weir.TracingError, "weir.cond"),
    (_while, X, weir.TracingError, "weir.while_loop"),
    (lambda x: x > 0 and x < 3, X, weir.TracingError, "& | ~"),
    (_range, 3, weir.TracingError, "weir.fori_loop"),
    (lambda x: int(x), 3, weir.TracingError, "astype"),
    (lambda x: float(x), 3, weir.TracingError, "astype"),
    (lambda x: x.item(), 3, weir.TracingError, "return the array"),
    (lambda x: np.asarray(x), X, weir.TracingError, "weir.numpy"),
    (lambda x: np.isnat(x), X, weir.TracingError, "numpy.isnat"),
    (lambda x: np.trim_zeros(x), X, weir.TracingError,
     r"numpy.trim_zeros cannot .*f32\[2,3\] .*argument x.* at .*test_errors.py:\d+, and weir"),
    (lambda x: f"{x:.2f}", 3, weir.TracingError, r"a format such as '.2f' at .*test_errors.py:\d+"),
    (lambda x: x in {1: 2}, 3, weir.TracingError, r"key of a dictionary, at .*py:\d+.*weir.switch"),
    (_numpy_index, 1, weir.TracingError, "weir.numpy.array"),
    (lambda x: 3 in x, X, weir.TracingError, "weir.numpy.any"),
    (lambda x: len(x), 3, TypeError, "without axes"),
    (lambda x: list(x), 3, TypeError, "without axes"),
    (_assign, X, TypeError, "at\\[index\\].set"),
    (lambda x: wnp.eye(x), 3, TypeError, r"shape of iota must be known while tracing.*i32\[\]"),
    (lambda x: wnp.top_k(X, x), 3, TypeError, r"the k of top_k must be known .*py:\d+\)"),
    (lambda x: wnp.bincount(X, length=x), 3, TypeError, "a shape must be known while tracing"),
    (lambda x: x + [1, 2], X, TypeError, "unsupported operand"),
    (lambda x: wnp.add(x, [1, 2]), X, TypeError, "weir.numpy.array makes an array"),
    (lambda x: x.reshape(x.sum()), X, TypeError, "known while tracing|integer"),
    (lambda x: x + np.ones(4), X, ValueError, r"\(2, 3\) and \(4,\) do not broadcast"),
    (lambda x: x.sum(5), X, ValueError, "no axis 5"),
    (lambda x: x.sum((0, 0)), X, ValueError, "given twice"),
    (lambda x: weir.vmap(lambda a: a, in_axes="0")(x), X, TypeError,
     r"integers and None, found '0' for argument a \(.*test_errors.py:\d+\)"),
    (lambda x: weir.vmap(lambda a: a)(x), 3, ValueError, "no axis 0 to map over; .* in in_axes"),
    (lambda x: weir.pfor(3, lambda i: i), 3, TypeError, "of iterations of pfor .* found <fun"),
    (lambda x: weir.pfor(lambda i: i, 3.0), 3, TypeError, r"an integer, found 3.0 \(.*py:\d+"),
    (lambda x: weir.pfor(lambda i: i, 3, chunk_size=1.5), 3, TypeError, "chunk_size must be an"),
    (lambda x: weir.while_loop(lambda c: c < 3, lambda c: c + 1, x), X, TypeError,
     r"scalar, found bool\[2,3\] .*test_errors.py:\d+\); weir.numpy.all"),
    (lambda x: weir.cond(x[0, 0] > 0, lambda: {"a": x, "b": x}, lambda: {"a": x, "b": x[0]}), X,
     TypeError, r"shapes for the result\['b'\]: f32\[2,3\] .*branch 0\) and f32\[3\] .*branch 1\)"),
    (lambda x: weir.switch(0, [lambda: (x,), lambda: (x > 0,)]), X, TypeError,
     r"element types for the result\[0\]: f32.* \(branch 0\) and bool.* \(branch 1\); convert"),
    (lambda x: weir.random.normal(seed=1.5), X, TypeError, r"seed must be an integer, found 1.5"),
    (lambda x: weir.random.randint((2,), 5, 5, seed=1), X, ValueError, r"no integer in \[5, 5\)"),
    (lambda x: weir.fori_loop(0, 2.5, lambda i, c: c, x), X, TypeError, "scalars, found 2.5"),
    (lambda x: weir.fori_loop(0, x > 0, lambda i, c: c, x), X, TypeError, r"found .*bool\["),
    (lambda x: weir.fori_loop(0, np.ones(2, int), lambda i, c: c, x), X, TypeError, "scalars"),
    (lambda x: wnp.linalg.solve(x[:, :2], x[0]), X, ValueError,
     r"right-hand side f32\[3,1\] .* another size than the matrix f32\[2,2\] .*errors.py:\d+\)"),
    (lambda x: weir.vmap(lambda a: (a, a), out_axes=(0, 0, 0))(x), X, ValueError,
     r"out_axes \(0, 0, 0\) does not fit the structure \(\*, \*\) \(.*errors.py:\d+\)"),
    (lambda x: weir.tree.map(lambda a, b: a, (x, x), x), X, ValueError,
     r"structures: \(\*, \*\) and \* \(.*errors.py:\d+\)"),
]
# fmt: on


@pytest.mark.parametrize(
    "function, x, error, message", CASES, ids=[str(i) for i in range(len(CASES))]
)
def test_messages(function, x, error, message):
    with pytest.raises(error, match=message):
        weir.jit(function)(x)


def test_functions_of_numpy_are_those_of_weir():
    """Where both have the function, as for operators and ufuncs."""

    def function(x):
        return (
            np.sum(x, axis=1),
            np.concatenate([x, x], 1),
            np.dot(x[0], x[1]),
            np.linalg.norm(x[0]),
            np.real(np.fft.fft(x)),
            np.size(x) + np.ndim(x) + np.shape(x)[1] + np.size(x, 1),
            np.copy(x),
            np.where(x > 2, x, 0),
            np.round(x / 3, 2),
        )

    rows = np.stack([X, X + 1])
    got = weir.vmap(function)(rows)
    for i, x in enumerate(rows):
        for a, b in zip(got, function(x)):
            np.testing.assert_allclose(a[i], b, rtol=1e-5, atol=1e-5)
    assert weir.jit(lambda x: (round(x), round(x, 1)))(np.float32(2.56)) == (3, np.float32(2.6))


def test_static_arguments_are_hashable():
    function = weir.jit(lambda x, mode, axis=0: x, static_argnums=1, static_argnames="axis")
    with pytest.raises(TypeError, match=r"static argument 1 of <lambda> .* found \[2\] \(.*py:\d+"):
        function(X, [2])
    with pytest.raises(TypeError, match=r"static argument axis .* hashable, found \{\}"):
        function(X, 2, axis={})


def test_a_condition_is_named_with_shape_and_place():
    def function(x):
        total = x.sum()
        positive = total > 0
        return 1 if positive else 2

    first = function.__code__.co_firstlineno
    with pytest.raises(weir.TracingError) as caught:
        weir.jit(function)(X)
    text = str(caught.value)
    assert f"{__file__}:{first + 3}" in text
    assert f"bool[] made by greater at {__file__}:{first + 2}" in text


def test_nodes_keep_their_lines():
    def function(x):
        y = wnp.sin(x)
        return weir.vmap(lambda row: row * 2)(y)

    first = function.__code__.co_firstlineno
    text = weir.jit(function).lower(X).text
    sine = next(line for line in text.splitlines() if "sin(" in line)
    product = next(line for line in text.splitlines() if "multiply(" in line)
    assert f'"{__file__}":{first + 1}:' in sine
    assert f'"{__file__}":{first + 2}:' in product


def test_errors_of_operations_name_the_line():
    def function(x):
        return weir.lax.add(x, wnp.ones(3))

    with pytest.raises(
        weir.InvalidArgument, match=f"add .*{__file__}:{function.__code__.co_firstlineno + 1}"
    ):
        weir.jit(function)(X)


def test_classes():
    assert issubclass(weir.InvalidArgument, ValueError) and issubclass(
        weir.InvalidArgument, weir.Error
    )
    assert issubclass(weir.Unavailable, ConnectionError)
    with pytest.raises(weir.Unavailable, match="localhost:1"):
        weir.connect("localhost:1")


def test_a_trace_that_is_over():
    kept = []
    weir.jit(lambda x: kept.append(x) or x)(X)
    with pytest.raises(weir.TracingError, match="tracing is over"):
        weir.jit(lambda x: x + kept[0])(X)
    assert "argument x" in repr(kept[0])


def test_a_failed_trace_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError):
        weir.jit(lambda x: 1 // 0)(X)
    assert isinstance(wnp.sin(X), np.ndarray)


@pytest.mark.parametrize("values", [[object()], ["a", "b"], np.array([1], "M8[s]")])
def test_what_is_no_number_makes_no_array(values):
    with pytest.raises(weir.InvalidArgument, match="no element type of Weir"):
        wnp.array(values)
    with pytest.raises(weir.InvalidArgument, match="no element type of Weir"):
        weir.jit(lambda: wnp.array(values))()
