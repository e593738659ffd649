"""Where the values of variables are: on the cluster of a session, or here."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest

import weir


def _adder(variable):
    return weir.jit(lambda step: variable.assign_add(step))


def _names(session):
    return [each["name"] for each in session.variables()]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_value_stays_on_the_cluster_and_comes_back(workers):
    total = weir.Variable(np.float32(1), "total_here")
    add = _adder(total)
    with weir.connect(workers=workers) as session:
        assert "total_here" not in _names(session)
        for _ in range(5):
            add(np.float32(2))
        (known,) = session.variables()
        assert (known["name"], known["version"], known["bytes"]) == ("total_here", "6", "4")
        assert total.value() == 11
        assert total.dtype == np.float32 and total.shape == ()
    assert total.value() == 11
    with weir.connect(workers=2) as session:
        add(np.float32(1))
        assert _names(session) == ["total_here"]
    assert total.value() == 12


def test_a_value_follows_its_runs_from_session_to_session(session):
    total = weir.Variable(np.arange(3.0), "travelling")
    add = _adder(total)
    add(1.0)
    assert "travelling" in _names(session)
    with weir.connect(workers=1) as inner:
        add(1.0)
        assert "travelling" in _names(inner)
        assert "travelling" not in _names(session)
        np.testing.assert_array_equal(total.value(), np.arange(3.0) + 2)
    add(1.0)
    assert "travelling" in _names(session)
    np.testing.assert_array_equal(total.value(), np.arange(3.0) + 3)


def test_variables_that_are_gone_are_deleted(session):
    weir.Variable(np.float32(1), "kept_by_nobody").assign_add(1)
    gc.collect()
    assert "kept_by_nobody" not in _names(session)


def test_values_are_nobody_elses_memory():
    given = np.arange(4.0)
    total = weir.Variable(given, "apart")
    assign = weir.jit(total.assign)
    read = weir.jit(lambda: (total.read(), total.read() + 0))

    @weir.jit
    def exchange(x):
        before = total.read()
        total.assign(x)
        return before, total.read()

    for _ in range(50):  # with and without jobs
        assign(given)
        given[0] = -1
        assert total.value()[0] == 0
        total.value()[1] = -1
        for array in read():
            array[2] = -1
        np.testing.assert_array_equal(total.value(), np.arange(4.0))
        given[0] = 0
        for array in exchange(given):
            array[3] = -1
        np.testing.assert_array_equal(total.value(), np.arange(4.0))


def test_a_run_that_fails_changes_nothing_there_either():
    total = weir.Variable(np.float32(1))

    @weir.jit
    def add(x):
        total.assign_add(x)
        weir.check(x > 0, "must be positive")

    add(np.float32(1))
    with pytest.raises(weir.Error, match="must be positive"):
        add(np.float32(-1))
    assert total.value() == 2


def test_threads_share_a_variable():
    total = weir.Variable(np.int64(0))
    add = _adder(total)
    shared = weir.connect(workers=2)  # what threads use that have entered none
    threads = [
        threading.Thread(target=lambda: [add(np.int64(1)) for _ in range(100)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.close()
    assert total.value() == 400


def test_two_variables_change_places():
    a, b = weir.Variable(np.zeros(3)), weir.Variable(np.ones(3))

    @weir.jit
    def swap():
        first, second = a.read(), b.read()
        a.assign(second)
        b.assign(first)

    for _ in range(3):
        swap()
    np.testing.assert_array_equal(a.value(), np.ones(3))
    np.testing.assert_array_equal(b.value(), np.zeros(3))


def test_copies_have_values_of_their_own():
    total = weir.Variable(np.int64(3), "original")
    total.assign_add(1)
    for twin in (copy.deepcopy(total), pickle.loads(pickle.dumps(total))):
        twin.assign_add(1)
        assert (twin.name, twin.value(), total.value()) == ("original", 5, 4)


def test_a_value_that_cannot_come_back_is_no_silent_loss():
    total = weir.Variable(np.int64(3), "unlucky")
    session = weir.connect(workers=1)
    with session:
        total.assign_add(1)
        # Behind the back of its variable.
        (known,) = session.variables()
        session._native.delete_variable(known["id"])
        with pytest.raises(weir.NotFound, match="there is no variable"):
            total.value()
        with pytest.warns(RuntimeWarning, match="unlucky: there is no variable"):
            session.close()
    with pytest.raises(weir.NotFound, match="there is no variable"):
        total.value()
    with pytest.raises(weir.NotFound, match="there is no variable"):
        total.assign_add(1)


def test_steps_with_a_report_use_variables_too():
    total = weir.Variable(np.float32(1))
    add = _adder(total)
    _, report = add.run_with_report(np.float32(2))
    assert report["coordinator_tensor_bytes"] == "0"
    assert total.value() == 3
