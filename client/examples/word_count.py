"""Word count: words stream in epoch by epoch, counts come out as soon as an epoch is complete.

A flow with two outputs: how often each word of an epoch was in it, and, for those words, how often
they have come so far. Texts are told apart by numbers, which the client gives them.

    PYTHONPATH=build/release/python python3 client/examples/word_count.py
"""

import collections

import numpy as np

import weir

VERSES = """
the wheels on the bus go round and round round and round
the wipers on the bus go swish swish swish swish swish swish
the wheels and the wipers go round and swish

the people on the bus go up and down up and down
""".strip().split("\n")


def build():
    flow = weir.Flow("word_count")
    words = flow.input("words", "i64")
    words.count(keys=1).output("counts")
    words.count(keys=1, state="job").output("totals")
    return flow


def numbered(verses):
    """Returns: (inputs of the flow, an epoch for each verse; the words by their numbers)."""
    names = sorted({word for verse in verses for word in verse.split()})
    numbers = {name: number for number, name in enumerate(names)}
    epochs = [[numbers[word] for word in verse.split()] for verse in verses]
    return {"words": [(e, np.int64(words)) for e, words in enumerate(epochs)]}, names


def expected(inputs):
    """Returns: for each output and epoch the counts by word."""
    so_far = collections.Counter()
    results = {"counts": {}, "totals": {}}
    for epoch, words in inputs["words"]:
        counts = collections.Counter(words.tolist())
        so_far.update(counts)
        if counts:
            results["counts"][epoch] = dict(counts)
            results["totals"][epoch] = {word: so_far[word] for word in counts}
    return results


def check(results, inputs):
    found = {
        name: {epoch: dict(zip(*map(np.ndarray.tolist, r))) for epoch, r in epochs.items()}
        for name, epochs in results.items()
    }
    assert found == expected(inputs)


def main():
    inputs, names = numbered(VERSES)
    flow = build()
    results = {"counts": {}, "totals": {}}
    with weir.connect() as session, session.deploy(flow) as job:
        for epoch, words in inputs["words"]:
            job.send("words", words, epoch=epoch)
            job.advance("words", epoch + 1)
            job.wait(epoch)  # not needed: the next epoch may come while this one is under way
            print(f"epoch {epoch} is complete: '{VERSES[epoch]}'")
        job.close()
        for name in results:
            results[name].update(job.results(name))
    check(results, inputs)
    for epoch, (words, totals) in results["totals"].items():
        counts = dict(zip(*results["counts"][epoch]))
        for word, total in zip(words, totals):
            print(f"epoch {epoch}: {names[word]:8} {counts[word]} times, {total} so far")
    print("as counted one after the other")


if __name__ == "__main__":
    main()
