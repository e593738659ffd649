"""Optional values: searches that find nothing in some iterations."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

ROWS = np.array([[3, 8, 1], [5, 7, 9], [1, 2, 6]])


def first_even(row):
    """Returns: the first even number of a row with its place, if there is one."""

    def step(k, found):
        is_first = ~found.has_value & (row[k] % 2 == 0)
        seen = {"number": row[k], "place": k}
        return weir.cond(is_first, lambda: weir.Optional.of(seen), lambda: found)

    nothing = weir.Optional.none({"number": row[0], "place": 0})
    return weir.fori_loop(0, 3, step, nothing)


def test_a_search_gives_a_value_or_none():
    found = weir.vmap(first_even, strict=True)(ROWS)
    assert isinstance(found, weir.Optional) and found.has_value.tolist() == [True, False, True]
    assert found.value["number"][[0, 2]].tolist() == [8, 2]

    def place(row):
        return first_even(row).get_or({"number": -1, "place": -1})["place"]

    assert weir.vmap(place, strict=True)(ROWS).tolist() == [1, -1, 1]
    assert weir.vmap(lambda row: first_even(row).get()["number"])(ROWS[::2]).tolist() == [8, 2]
    with pytest.raises(weir.FailedPrecondition, match="in iteration 1: .*value is missing"):
        weir.vmap(lambda row: first_even(row).get()["number"])(ROWS)


def test_outside_of_functions():
    some, none = weir.Optional.of(np.float32(2)), weir.Optional.none(np.float32(2))
    assert some and not none
    assert some.get() == 2 and some.get_or(3) == 2 and none.get_or(3) == 3
    assert repr(none) == "weir.Optional(nothing)" and "array(2." in repr(some)
    with pytest.raises(weir.FailedPrecondition, match="missing"):
        none.get()


@pytest.mark.parametrize(
    "use, error, message",
    [
        (lambda x: 1 if weir.Optional.of(x) else 0, weir.TracingError,
         r"optional value at .*test_optional.py:\d+ .*weir.cond, and get_or"),
        (lambda x: weir.Optional.of(x).get_or(wnp.ones(2)), TypeError,
         r"default of f32\[\] .*argument x.* is f32\[2\] made"),
        (lambda x: weir.Optional.of(x).get_or(np.float64(1)), TypeError, r"is f64\[\]"),
        (lambda x: weir.Optional.of((x, x)).get_or(x), ValueError, r"\(\*, \*\) and \*"),
        (lambda x: weir.Optional.of(x, where=x), TypeError, r"a bool scalar, found f32\[\]"),
        (lambda x: weir.vmap(lambda i: weir.Optional.of(i))(wnp.arange(3)).get(), TypeError,
         "those of 3 examples .*weir.vmap"),
    ],
)  # fmt: skip
def test_what_they_refuse(use, error, message):
    with pytest.raises(error, match=message):
        weir.jit(use)(np.float32(1))
