"""Random numbers: each iteration draws its own, those that one iteration after the other draws.

Origin: section 2.1, the RandomTest and StatelessRandomTest of TensorFlow's
control_flow_ops_test.py, which compare shapes only.
"""

import numpy as np
import pytest
from conftest import assert_same_bits
from oracle import numbers

import weir
import weir.numpy as wnp


def drawn(body, n=5):
    """Returns: what `body` draws in n iterations, the same in chunks, in order, and for fewer."""
    got = weir.pfor(body, n, strict=True)
    assert_same_bits(got, weir.for_loop(body, n))
    assert_same_bits(got, weir.pfor(body, n, chunk_size=2, strict=True))
    for fewer in (0, 1, n - 1):
        assert_same_bits(got[:fewer], weir.pfor(body, fewer, strict=True))
    return got


def assert_all_differ(got):
    assert len(np.unique(got)) == got.size


def test_random_uniform():
    got = drawn(lambda i: weir.random.uniform((3,), minval=-1, maxval=2, seed=1))
    assert got.shape == (5, 3) and ((got >= -1) & (got < 2)).all()
    assert_all_differ(got)


def test_random_uniform_int():
    got = drawn(lambda i: weir.random.randint((300,), 0, 10, seed=1))
    assert got.shape == (5, 300) and got.dtype == np.int32
    assert all(set(row) == set(range(10)) for row in got.tolist())
    assert len(np.unique(got, axis=0)) == 5


def test_random_standard_normal():
    got = drawn(lambda i: weir.random.normal((200,), seed=1))
    assert_all_differ(got)
    # Five standard errors.
    assert abs(got.mean()) < 5 / np.sqrt(1000) and abs(got.var() - 1) < 5 * np.sqrt(2 / 1000)


def test_truncated_normal():
    got = drawn(lambda i: weir.random.truncated_normal(-1.0, 2.0, (200,), seed=1))
    assert got.min() >= -1 and got.max() <= 2 and got.max() > 1
    assert len(np.unique(got, axis=0)) == 5


def test_multinomial_invariant_logits():
    logits = np.log(np.float32([0.5, 0, 0.5]) + np.float32(1e-30))
    got = drawn(lambda i: weir.random.categorical(wnp.array(logits), shape=(200,), seed=1))
    assert got.shape == (5, 200) and set(got.ravel().tolist()) == {0, 2}
    assert len(np.unique(got, axis=0)) == 5


def test_multinomial_varying_logits():
    logits = np.where(np.eye(5, dtype=bool), np.float32(0), np.float32(-1e9))
    got = drawn(lambda i: weir.random.categorical(wnp.array(logits)[i], shape=(20,), seed=1))
    np.testing.assert_array_equal(got, np.tile(np.arange(5)[:, None], (1, 20)))


@pytest.mark.parametrize("varying_seed", [False, True])
@pytest.mark.parametrize("varying_logits", [False, True])
def test_multinomial_stateless(varying_logits, varying_seed):
    logits, seeds = numbers(5, 7), np.int32([3, 1, 4, 1, 5])

    def body(i):
        row = wnp.array(logits)[i if varying_logits else 0]
        seed = wnp.array(seeds)[i if varying_seed else 0]
        return weir.random.categorical(row, shape=(40,), seed=seed)

    got = drawn(body)
    assert got.min() >= 0 and got.max() < 7 and len(np.unique(got, axis=0)) == 5


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("alpha", [0.5, [2.0, 0.25, 300.0]])
def test_random_gamma_invariant_alpha(alpha, shape):
    want = np.broadcast_shapes(np.shape(alpha), shape)
    got = drawn(lambda i: weir.random.gamma(np.float32(alpha), want, seed=1))
    assert got.shape == (5, *want) and (got > 0).all() and got.dtype == np.float32
    assert_all_differ(got)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_random_gamma_varying_alpha(shape):
    alpha = np.float32([0.1, 1, 20, 400, 8000])
    got = drawn(lambda i: weir.random.gamma(wnp.array(alpha)[i], shape, seed=1))
    assert got.shape == (5, *shape)
    assert_all_differ(got)
    # Six standard deviations.
    rows = got.reshape(5, -1)[2:]
    assert (abs(rows - alpha[2:, None]) < 6 * np.sqrt(alpha[2:, None])).all()


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("rate", [40.0, [2.0, 0.0, 300.0]])
def test_random_poisson_invariant_rate(rate, shape):
    want = np.broadcast_shapes(np.shape(rate), shape)
    got = drawn(lambda i: weir.random.poisson(np.float32(rate), want, seed=1))
    assert got.shape == (5, *want) and got.dtype == np.int32
    assert (abs(got - np.float32(rate)) <= 6 * np.sqrt(np.float32(rate))).all()
    assert len(np.unique(got, axis=0)) > 1


@pytest.mark.parametrize("shape", [(), (3,)])
def test_random_poisson_varying_rate(shape):
    rate = np.float32([0, 1, 20, 400, 8000])
    got = drawn(lambda i: weir.random.poisson(wnp.array(rate)[i], shape, seed=1))
    assert got.shape == (5, *shape)
    rows = got.reshape(5, -1)
    assert (rows[0] == 0).all() and (rows[3:] > 0).all()
    assert (abs(rows - rate[:, None]) <= 6 * np.sqrt(rate[:, None])).all()
