"""Markov chains: written for one chain, run on thousands of them.

Metropolis' algorithm draws from a distribution of which only the density up to a factor is known.
The numbers of a chain do not depend on how many chains there are, nor on the machines.

    PYTHONPATH=build/release/python python3 client/examples/markov_chains.py
"""

import numpy as np

import weir
import weir.numpy as wnp

CHAINS, WARM_UP, STEPS = 2000, 200, 200
MEANS = np.float32([-2, 3])


def log_density(x):
    """Returns: the logarithm of the density at x, up to a constant: two bells, one wider."""
    return wnp.logsumexp(wnp.array([-((x - MEANS[0]) ** 2) / 2, -((x - MEANS[1]) ** 2) / 8]))


def walk(steps, start):
    """Returns: (where a chain is after so many steps, the mean on the way, steps that it took)."""

    def step(t, state):
        x, total, accepted = state
        proposal = x + 3 * weir.random.normal(seed=1)
        bound = log_density(proposal) - log_density(x)
        takes = wnp.log(weir.random.uniform(seed=2)) < bound
        x = wnp.where(takes, proposal, x)
        return x, total + x, accepted + takes

    last, total, accepted = weir.fori_loop(0, steps, step, (start, 0.0, 0))
    return last, total / steps, accepted


def chain(i):
    """Runs one chain.

    Returns: (its last place, the mean of its places, the part of its proposals that it took, R:
      near 1 where all chains have forgotten where they began).
    """
    start = 10 * weir.random.normal(seed=3)
    warm, _, _ = walk(WARM_UP, start)
    last, mean, accepted = walk(STEPS, warm)
    spread = weir.pmean((last - weir.pmean(last)) ** 2)
    between = weir.pmean((mean - weir.pmean(mean)) ** 2)
    return last, mean, accepted / STEPS, wnp.sqrt(1 + between / spread)


def main():
    last, mean, accepted, r = weir.pfor(chain, CHAINS)
    print(f"mean {last.mean():.2f}, deviation {last.std():.2f}, R {r[0]:.3f}")
    print(f"a chain took {100 * accepted.mean():.0f} % of its proposals")
    for low in range(-6, 10):
        count = ((last >= low) & (last < low + 1)).sum()
        print(f"{low:3d} {'#' * (200 * count // CHAINS)}")


if __name__ == "__main__":
    main()
