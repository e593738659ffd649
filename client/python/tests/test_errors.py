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


CASES = [
    (_if, X, weir.TracingError, "weir.cond"),
    (_while, X, weir.TracingError, "weir.while_loop"),
    (lambda x: x > 0 and x < 3, X, weir.TracingError, "& | ~"),
    (_range, 3, weir.TracingError, "weir.fori_loop"),
    (lambda x: int(x), 3, weir.TracingError, "astype"),
    (lambda x: float(x), 3, weir.TracingError, "astype"),
    (lambda x: x.item(), 3, weir.TracingError, "return the array"),
    (lambda x: np.asarray(x), X, weir.TracingError, "weir.numpy"),
    (lambda x: np.spacing(x), X, weir.TracingError, "numpy.spacing"),
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
]


@pytest.mark.parametrize(
    "function, x, error, message", CASES, ids=[str(i) for i in range(len(CASES))]
)
def test_messages(function, x, error, message):
    with pytest.raises(error, match=message):
        weir.jit(function)(x)


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
