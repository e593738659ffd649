"""Rows in the words of TensorFlow: `vectorized_map` under `tf.function`."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf


class Linalg:
    """What has other names or results than in NumPy."""

    cholesky = staticmethod(tf.linalg.cholesky)
    qr = staticmethod(tf.linalg.qr)
    eigh = staticmethod(tf.linalg.eigh)
    eig = staticmethod(tf.linalg.eig)
    solve = staticmethod(tf.linalg.solve)
    inv = staticmethod(tf.linalg.inv)
    slogdet = staticmethod(tf.linalg.slogdet)

    @staticmethod
    def svd(x):
        s, u, v = tf.linalg.svd(x)
        return u, s, tf.linalg.adjoint(v)


class Framework:
    """The words of rows, and how programs run."""

    name = "tensorflow"
    channels_last = True
    version = tf.__version__
    tanh = staticmethod(tf.tanh)
    sigmoid = staticmethod(tf.sigmoid)
    relu = staticmethod(tf.nn.relu)
    linalg = Linalg
    fft = tf.signal
    sum = staticmethod(tf.reduce_sum)
    transpose = staticmethod(tf.transpose)

    def __init__(self, threads):
        tf.get_logger().setLevel("ERROR")
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)

    def close(self):
        pass

    def solve_triangular(self, a, b):
        return tf.linalg.triangular_solve(a, b)

    def lu(self, x):
        return tf.linalg.lu(x)[0]

    def grad(self, function, argnums):
        def gradient(*args):
            args = [tf.convert_to_tensor(x) for x in args]
            with tf.GradientTape() as tape:
                tape.watch(args)
                out = function(*args)
            return tuple(tape.gradient(out, [args[i] for i in argnums]))

        return gradient

    def jacobian(self, function):
        def jacobian(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                out = function(x)
            return tape.jacobian(out, x)

        return jacobian

    def hessian(self, function):
        return self.jacobian(lambda x: self.grad(function, [0])(x)[0])

    def split(self, x, parts):
        return tf.split(x, parts, axis=-1)

    def conv(self, x, kernel, bias):
        return tf.nn.conv2d(x, kernel, 1, "SAME") + bias

    def max_pool(self, x):
        return tf.nn.max_pool2d(x, 2, 2, "VALID")

    def flatten(self, x):
        return tf.reshape(tf.transpose(x, (0, 3, 1, 2)), (1, -1))

    def at(self, xs, t):
        return tf.gather(xs, t)

    def put(self, xs, t, x):
        return tf.tensor_scatter_nd_update(xs, [[t]], [x])

    def concat(self, parts):
        return tf.concat(parts, axis=-1)

    def cond(self, holds, then, otherwise, x):
        return tf.cond(holds, lambda: then(x), lambda: otherwise(x))

    def choose(self, holds, then, otherwise, xs):
        return tf.cond(holds, lambda: then(*xs), lambda: otherwise(*xs))

    def while_loop(self, cond, body, carry, bound):
        return tf.while_loop(cond, body, carry)

    def fori(self, trips, body, carry, bound):
        start = (tf.zeros_like(trips), *carry)
        return tf.while_loop(
            lambda t, *c: t < trips, lambda t, *c: (t + 1, *body(t, *c)), start
        )[1:]

    def scan(self, step, carry, xs):
        for x in tf.unstack(xs):
            carry = step(x, *carry)
        return carry

    def compile(self, row):
        """Returns: a `Program`."""
        return Program(row)


class Program:
    """One row, compiled; its arrays are TensorFlow's already."""

    def __init__(self, row):
        self._mapped = [tf.constant(x) for x in row.mapped]
        self._shared = [tf.constant(x) for x in row.shared]
        self.notes, self.facts = [], {}
        self._function = self._compile(row, fallback=False)
        try:
            self.run()
        except ValueError as error:
            self.notes = [f"falls back to a loop: {str(error).splitlines()[0][:100]}"]
            self._function = self._compile(row, fallback=True)

    def _compile(self, row, fallback):
        @tf.function
        def function(mapped, shared):
            return tf.vectorized_map(
                lambda rows: row.example(*rows, *shared), mapped, fallback_to_while_loop=fallback
            )

        return function

    def run(self):
        return self._function(self._mapped, self._shared)

    def results(self):
        return [x.numpy() for x in tf.nest.flatten(self.run())]
