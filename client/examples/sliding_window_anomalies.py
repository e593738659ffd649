"""Anomalies in the readings of sensors, by windows that slide over epochs.

An epoch is a minute. A window holds SIZE minutes and ends with each minute that SLIDE divides; when
it is complete, readings are compared with the mean and the deviation of their sensor in it.

    PYTHONPATH=build/release/python python3 client/examples/sliding_window_anomalies.py
"""

import numpy as np

import weir
import weir.numpy as wnp

SIZE = 10
SLIDE = 5
FAR = 4.0  # deviations


def build():
    flow = weir.Flow("anomalies")
    readings = flow.input("readings", "i64", "i64", "f64")  # sensor, minute, value
    window = readings.window(size=SIZE, slide=SLIDE)
    sums = window.map(lambda sensor, minute, value: (sensor, 1.0, value, value**2)).reduce_by_key(
        keys=1, combine="sum"
    )

    def statistics(sensor, count, total, squares):
        mean = total / count
        return sensor, mean, wnp.sqrt(wnp.maximum(squares / count - mean**2, 0.0))

    met = window.join(sums.map(statistics), keys=1)
    met.filter(
        lambda sensor, minute, value, mean, deviation: wnp.abs(value - mean) > FAR * deviation
    ).output("anomalies")
    sums.count(keys=0).output("sensors")
    return flow


def random_readings(sensors=5, minutes=40, per_minute=6, seed=0):
    """Returns: inputs of the flow; one reading in 300 is far off."""
    rng = np.random.default_rng(seed)
    inputs = {"readings": []}
    for minute in range(minutes):
        sensor = np.repeat(np.arange(sensors), per_minute)
        values = 20 + 3 * np.sin(sensor + minute / 20) + rng.normal(size=len(sensor))
        values += np.where(rng.random(len(sensor)) < 1 / 300, 30, 0)
        inputs["readings"].append((minute, (sensor, np.full(len(sensor), minute), values)))
    return inputs


def expected(inputs):
    """Returns: for the last minute of each window the set of (sensor, minute, value) far off."""
    sensor, minute, value = (
        np.concatenate([columns[i] for _, columns in inputs["readings"]]) for i in range(3)
    )
    found = {}
    for begin in range(0, minute.max() + 1, SLIDE):
        in_window = (minute >= begin) & (minute < begin + SIZE)
        far = set()
        for each in np.unique(sensor[in_window]):
            rows = np.flatnonzero(in_window & (sensor == each))
            off = abs(value[rows] - value[rows].mean()) > FAR * value[rows].std()
            far |= {(int(each), int(minute[row]), float(value[row])) for row in rows[off]}
        if far:
            found[begin + SIZE - 1] = far
    return found


def check(results, inputs):
    found = {
        epoch: set(zip(*map(np.ndarray.tolist, records[:3])))
        for epoch, records in results["anomalies"].items()
    }
    assert found == expected(inputs)


def main():
    inputs = random_readings()
    results = build().run(inputs)
    check(results, inputs)
    for epoch, (sensors,) in results["sensors"].items():
        window = f"minutes {epoch - SIZE + 1} to {epoch}"
        anomalies = results["anomalies"].get(epoch, ([],) * 5)
        print(f"{window}: {sensors[0]} sensors, {len(anomalies[0])} readings far off")
        for sensor, minute, value, mean, deviation in zip(*anomalies):
            print(
                f"  sensor {sensor} at minute {minute}: {value:.1f}, where the mean is {mean:.1f}"
                f" and the deviation {deviation:.1f}"
            )
    print("as computed window by window")


if __name__ == "__main__":
    main()
