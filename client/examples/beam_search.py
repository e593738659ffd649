"""Beam search: written for one sentence, run on a batch of them.

Each beam is a `weir.List` of words that ends when its last word is the end of the sentence. A batch
stops per sentence: one whose beams have all ended costs nothing more.

    PYTHONPATH=build/release/python python3 client/examples/beam_search.py
"""

import numpy as np

import weir
import weir.numpy as wnp
from weir import nn

WORDS = "<s> the a cat dog saw chased slept .".split()
START, END = 0, len(WORDS) - 1
BEAMS = 3
LONGEST = 12


def search(logits):
    """Finds the likeliest sentences of a bigram model.

    Args:
      logits: f32[words, words], row by the word before.

    Returns: (scores f32[BEAMS], descending; the sentences, a list for each beam).
    """
    log_probability = nn.log_softmax(logits)
    # A sentence that has ended goes on with itself, at no cost.
    ended = wnp.where(wnp.arange(len(WORDS)) == END, 0.0, -wnp.inf)

    def begin(beam):
        words = weir.List.empty(LONGEST, 0).push(START)
        return wnp.where(beam == 0, 0.0, -wnp.inf), words

    def is_open(state):
        _, words = state
        last = weir.vmap(lambda beam: beam[-1])(words)
        return wnp.any(last != END) & wnp.all(words.size < LONGEST)

    def step(state):
        scores, words = state
        last = weir.vmap(lambda beam: beam[-1])(words)
        following = wnp.where((last == END)[:, None], ended, log_probability[last])
        best, places = wnp.top_k(wnp.ravel(scores[:, None] + following), BEAMS)

        def extend(place):
            parent = weir.tree.map(lambda leaf: leaf[place // len(WORDS)], words)
            word = place % len(WORDS)
            return weir.cond(parent[-1] == END, lambda: parent, lambda: parent.push(word))

        return best, weir.vmap(extend)(places)

    return weir.while_loop(is_open, step, weir.vmap(begin)(wnp.arange(BEAMS)))


def models(count, seed=0):
    """Returns: random bigram models f32[count, words, words]; no word is followed by the start."""
    logits = 3 * np.random.default_rng(seed).normal(size=(count, len(WORDS), len(WORDS)))
    logits[:, :, START] = -1e9
    return logits.astype(np.float32)


def main():
    scores, sentences = weir.jit(weir.vmap(search))(models(4))
    for row, beams in zip(scores, sentences.split()):
        print("--")
        for score, words in zip(row, beams.split()):
            print(f"{score:7.3f}  {' '.join(WORDS[word] for word in words)}")


if __name__ == "__main__":
    main()
