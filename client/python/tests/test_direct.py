"""Calls that run on the caller's thread, in place of a job: nobody can tell but by the time."""

import threading

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp

X = np.linspace(-2, 2, 60, dtype=np.float32).reshape(20, 3)


def without_job(session, call, tries=2000):
    """Calls until a call needs no job. Returns: what that one returned."""
    for _ in range(tries):
        before = session._native.calls_without_job
        result = call()
        if session._native.calls_without_job > before:
            return result
    raise AssertionError("each call was a job")


def with_job(function, *args):
    """Returns: what a job gives for the same call."""
    return function.run_with_report(*args)[0]


def row(x):
    """Branches, loops, random numbers and products."""
    noise = weir.random.normal((3,), seed=3)
    loops = weir.while_loop(lambda c: wnp.sum(c) < 5, lambda c: c * 2 + 0.3, wnp.abs(x) + 0.1)
    sign = weir.cond(x[0] > 0, lambda: wnp.sin(x) @ x, lambda: np.float32(-1))
    return {"loops": loops + noise, "sign": sign, "same": x}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_have_the_bits_of_a_job(workers):
    function = weir.jit(lambda x: (weir.vmap(row)(x), x, wnp.sum(x)))
    with weir.connect(workers=workers) as session:
        want = with_job(function, X)
        for _ in range(5):
            assert_same_bits(without_job(session, lambda: function(X)), want)
        other = X[::-1].copy()
        assert_same_bits(without_job(session, lambda: function(other)), with_job(function, other))


def test_results_that_are_inputs_are_copies():
    function = weir.jit(lambda x: (x, x, x.T))
    array = np.ones((3, 2))
    with weir.connect(workers=1) as session:
        one, two, turned = without_job(session, lambda: function(array))
    one[0, 0] = 7
    assert array[0, 0] == 1 and two[0, 0] == 1 and turned[0, 0] == 1


def test_errors_are_those_of_a_job(session):
    @weir.jit
    def function(x):
        def check(v):
            weir.check(v < 10, "less than ten")
            return v + 1

        return weir.vmap(check)(x)

    good = np.arange(8)
    bad = np.array([0, 1, 11, 3, 4, 5, 6, 7])
    without_job(session, lambda: function(good))
    for _ in range(3):
        with pytest.raises(weir.FailedPrecondition) as raised:
            function(bad)
        with pytest.raises(weir.FailedPrecondition) as wanted:
            with_job(function, bad)
        assert "check failed in iteration 2: less than ten" in str(raised.value)
        assert str(raised.value) == str(wanted.value)
    np.testing.assert_array_equal(without_job(session, lambda: function(good)), good + 1)


def test_prints_and_budgets_take_a_job(capsys):
    @weir.jit
    def function(x):
        def show(v):
            weir.print("{}", v)
            return v * 2

        return weir.vmap(show)(x)

    with weir.connect(workers=2) as session:
        for _ in range(4):
            function(np.arange(2))
        assert capsys.readouterr().out == "0\n1\n" * 4
        assert session._native.calls_without_job == 0
    quiet = weir.jit(weir.vmap(wnp.sin))
    with weir.connect(workers=2, memory_budget="64KiB") as session:
        for _ in range(4):
            quiet(X)
        assert session._native.calls_without_job == 0


def test_variables_take_new_values(session):
    total = weir.Variable(0)

    @weir.jit
    def function(x):
        weir.vmap(lambda v: total.assign_add(v))(x)
        return total.read()

    calls = 0

    def call():
        nonlocal calls
        calls += 1
        return function(np.arange(4, dtype=np.int32))

    for _ in range(3):
        assert without_job(session, call) == 6 * calls == total.value()


def test_explain_counts_as_before(session):
    function = weir.jit(weir.vmap(lambda x: wnp.sum(wnp.exp(x))))
    want = weir.explain(function, X).counters
    without_job(session, lambda: function(X))
    got = weir.explain(function, X).counters
    assert got["elements"] == want["elements"] and got["kernel_launches"] == want["kernel_launches"]


def test_threads_share_a_session(session):
    function = weir.jit(weir.vmap(lambda x: wnp.sum(x) * 2))
    without_job(session, lambda: function(X))
    wrong = []

    def work(number):
        for i in range(100):
            x = np.full((20, 3), number * 1000 + i, np.float32)
            if not np.array_equal(function(x), np.full(20, (number * 1000 + i) * 6, np.float32)):
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_session_closes_while_threads_call_it():
    function = weir.jit(weir.vmap(lambda x: wnp.sum(x)))
    outcomes = []
    with weir.connect(workers=2) as session:
        traced = function.lower(X)
        without_job(session, lambda: function(X))
        begun = threading.Barrier(4)

        def work():
            begun.wait()
            try:
                while True:
                    (result,) = session.run(traced.native, [X])
                    np.testing.assert_allclose(result, X.sum(1), rtol=1e-5, atol=1e-5)
            except weir.FailedPrecondition as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        begun.wait()
        session.close()
        for thread in threads:
            thread.join(300)
    assert len(outcomes) == 3 and all("closed" in each for each in outcomes)


def test_the_last_call_of_a_closed_session_ends_the_cluster():
    """Threads of the cluster give back arrays, for which they need the interpreter."""
    function = weir.jit(weir.vmap(lambda row: wnp.sum(row)))
    large = np.ones((200, 500), np.float32)
    for _ in range(40):
        with weir.connect(workers=2) as session:
            native = function.lower(large).native

            def work():
                with pytest.raises(weir.FailedPrecondition, match="closed"):
                    while True:
                        session.run(native, [large.copy()])

            threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
            for thread in threads:
                thread.start()
            session.run(native, [large])
            session.close()
            for thread in threads:
                thread.join(300)
                assert not thread.is_alive()
