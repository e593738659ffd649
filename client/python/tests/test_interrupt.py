"""What waits ends with KeyboardInterrupt when the user interrupts it."""

import signal
import subprocess
import sys
import time

import pytest

BEGIN = """
import numpy as np
import weir

def endless(n):
    return weir.while_loop(lambda m: m >= 0, lambda m: m * 0 + 1, n)

def flow():
    made = weir.Flow("endless")
    made.input("x", "i64").map(endless).output("out")
    return made

def wait(work):
    try:
        print("waiting", flush=True)
        work()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""

RUN = """
wait(lambda: weir.vmap(endless)(np.arange(3)))
"""

JOB = """
with weir.connect() as session, session.deploy(flow()) as job:
    job.send("x", [1, 2])
    job.close()
    wait(WORK)
"""

SERVICE = """
with weir.connect() as session, session.serve(flow()) as service:
    wait(lambda: service(1))
"""


@pytest.mark.parametrize(
    "program",
    [
        RUN,
        JOB.replace("WORK", "job.wait"),
        JOB.replace("WORK", "lambda: job.wait(0)"),
        JOB.replace("WORK", 'lambda: list(job.results("out"))'),
        SERVICE,
    ],
    ids=["run", "end", "epoch", "results", "service"],
)
def test_what_waits_can_be_interrupted(program):
    with subprocess.Popen(
        [sys.executable, "-c", BEGIN + program], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "waiting\n"
            time.sleep(0.5)  # so that it does wait; it is interrupted in any case
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=60)
            assert said == "interrupted\n"
            assert process.returncode == 0
        finally:
            process.kill()
