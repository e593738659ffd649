"""Counts over CSV files: workers share the files, each is one day, and write a file for each day.

A sale is a line `shop,amount,price`. For each day and shop the flow writes how many sales there
were and what they made, and the same for all days so far. No client feeds anything: the flow ends
when the last file is read.

    PYTHONPATH=build/release/python python3 client/examples/csv_counts.py
"""

import collections
import pathlib
import tempfile

import numpy as np

import weir

DAYS = 5
SHOPS = 4


def build(folder):
    flow = weir.Flow("csv_counts")
    sales = flow.read_files(
        folder / "sales-*.csv", "i64", "i64", "f64", epochs="file", skip_lines=1
    )
    made = sales.map(lambda shop, amount, price: (shop, np.int64(1), amount * price))
    made.reduce_by_key(keys=1, combine="sum").write_files(folder / "day-{epoch}.csv")
    totals = made.reduce_by_key(keys=1, combine="sum", state="job")
    totals.write_files(folder / "total-{epoch}.csv")
    return flow


def random_sales(folder, seed=0):
    """Writes the files. Returns: for each day a list of (shop, amount, price)."""
    rng = np.random.default_rng(seed)
    days = []
    for day in range(DAYS):
        days.append(
            [
                (int(rng.integers(SHOPS)), int(rng.integers(1, 9)), int(rng.integers(400)) / 4)
                for _ in range(50 * (day + 1))
            ]
        )
        lines = ["shop,amount,price", *(",".join(map(str, sale)) for sale in days[-1])]
        (folder / f"sales-{day}.csv").write_text("\n".join(lines) + "\n")
    return days


def read(path):
    """Returns: {shop: (sales, what they made)}."""
    table = np.loadtxt(path, delimiter=",", ndmin=2)
    return {int(shop): (int(count), made) for shop, count, made in table}


def check(folder, days):
    totals = collections.defaultdict(lambda: (0, 0.0))
    for day, sales in enumerate(days):
        of_day = collections.defaultdict(lambda: (0, 0.0))
        for shop, amount, price in sales:
            for counts in (of_day, totals):
                counts[shop] = (counts[shop][0] + 1, counts[shop][1] + amount * price)
        assert read(folder / f"day-{day}.csv") == of_day
        assert read(folder / f"total-{day}.csv") == {shop: totals[shop] for shop in of_day}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        days = random_sales(folder)
        build(folder).run()
        check(folder, days)
        for path in sorted(folder.glob("total-*.csv")):
            print(path.name, *path.read_text().split())
    print("as counted one after the other")


if __name__ == "__main__":
    main()
