"""A row whose examples are trees."""

import numpy as np

from pforbench.row import Row

STATE, WORDS = 128, 1000
LEAVES = (5, 20)
# Below the stack, so that the two topmost elements are there before anything was pushed.
FLOOR = 2


class TreeLstm(Row):
    """A binary Tree-LSTM as a shift-reduce machine: a step pushes a leaf, or takes two elements
    from the stack and pushes what a cell makes of them (Tai, Socher and Manning 2015; Bowman et
    al. 2016).
    """

    name = "tree-lstm"
    sizes = (256,)
    quick_sizes = (5,)

    def build(self):
        most = LEAVES[1]
        self.bound = 2 * most - 1
        leaves = self.random.randint(LEAVES[0], most + 1, self.n).astype(np.int32)
        # One more than there are leaves, for reads behind the last of them.
        tokens = self.random.randint(0, WORDS, (self.n, most + 1)).astype(np.int32)
        shifts = np.stack([self._transitions(count) for count in leaves])
        self.mapped = [tokens, shifts, 2 * leaves - 1]
        self.shared = [
            self.normal(WORDS, 1, STATE),
            self.weights(2 * STATE, 5 * STATE),
            self.normal(5 * STATE, scale=0.1),
        ]

    def _transitions(self, leaves):
        """Returns: for a random tree, 1 for each leaf and 0 for each inner node, in postorder."""
        steps, depth, left = [], 0, leaves
        while left or depth > 1:
            shift = left > 0 and (depth < 2 or self.random.rand() < 0.5)
            steps.append(int(shift))
            depth += 1 if shift else -1
            left -= int(shift)
        return np.array(steps + [0] * (self.bound - len(steps)), np.int32)

    def leaf(self, word):
        """Returns: hidden and cell state of a leaf."""
        return self.f.tanh(word), word

    def cell(self, left, right, w, bias):
        """Returns: hidden and cell state over two children, each a pair of them."""
        f = self.f
        gates = f.concat([left[0], right[0]]) @ w + bias
        into, forget_left, forget_right, out, update = f.split(gates, 5)
        c = f.sigmoid(into) * f.tanh(update)
        c = c + f.sigmoid(forget_left) * left[1] + f.sigmoid(forget_right) * right[1]
        return f.sigmoid(out) * f.tanh(c), c

    def example(self, tokens, shifts, steps, words, w, bias):
        f = self.f

        def body(t, hidden, cells, top, read):
            shift = f.at(shifts, t)
            left = f.at(hidden, top - 2), f.at(cells, top - 2)
            right = f.at(hidden, top - 1), f.at(cells, top - 1)
            word = f.at(words, f.at(tokens, read))
            h, c = f.choose(
                shift > 0,
                lambda word, left, right: self.leaf(word),
                lambda word, left, right: self.cell(left, right, w, bias),
                (word, left, right),
            )
            place = top - 2 * (1 - shift)
            return f.put(hidden, place, h), f.put(cells, place, c), place + 1, read + shift

        stack = np.zeros((LEAVES[1] + FLOOR, 1, STATE), np.float32)
        start = (stack, stack, np.int32(FLOOR), np.int32(0))
        return f.at(f.fori(steps, body, start, self.bound)[0], FLOOR)


ROWS = (TreeLstm,)
