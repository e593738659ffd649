"""`weir watch` in a terminal: what goes on, live, until Ctrl-C, after which the job goes on."""

import fcntl
import os
import pty
import re
import select
import subprocess
import termios

import processes
from processes import wait_until
import stalled

CTRL_C = b"\x03"


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, *arguments):
        self._fd, inner = pty.openpty()
        self.process = subprocess.Popen(
            arguments,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(inner)
        self.text = ""

    def read(self):
        """Returns: all that it has printed."""
        while select.select([self._fd], [], [], 0.05)[0]:
            try:
                self.text += os.read(self._fd, 1 << 16).decode().replace("\r\n", "\n")
            except OSError:  # the other side is closed
                break
        return self.text

    def screen(self):
        """Returns: what stands there now."""
        return self.read().rsplit("\x1b[H\x1b[J", 1)[-1]

    def type(self, keys):
        os.write(self._fd, keys)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._fd)


def _own_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def row(screen, name):
    """Returns: the words of a row of a table."""
    found = re.search(rf"^{name} .*", screen, re.M)
    return found[0].split() if found else []


def test_it_shows_what_goes_on_and_ctrl_c_leaves_it_alone(three):
    cluster, session = three
    with session.deploy(stalled.word_count()) as job:
        address = cluster.address
        terminal = Terminal(
            processes.BINARIES / "weir", "watch", job.id, "--server", address, "--interval", "0.1"
        )
        try:
            wait_until(lambda: "is RUNNING" in terminal.screen(), "it shows the flow")
            assert row(terminal.screen(), "words")[:3] == ["words", "input", "0"]
            # So many that there is a rate, even if the screen is hours old.
            job.send("words", [7, 8, 7] * 10_000)
            job.advance("words", 5)
            wait_until(
                lambda: row(terminal.screen(), "words")[:4] == ["words", "input", "5", "30000"],
                "epochs and records of inputs",
            )
            wait_until(
                lambda: row(terminal.screen(), "counts")[1:5] == ["output", "before", "5", "2"],
                "epochs and records of outputs",
            )
            counted = ["counted", "count", "{(5)}", "30000"]
            wait_until(
                lambda: row(terminal.screen(), "counted")[:4] == counted,
                "frontiers and records of vertices",
            )
            assert re.search(r"^words .* [1-9]\d*/s", terminal.text, re.M), "a rate"
            wait_until(
                lambda: re.search(r"^words .* 0/s", terminal.screen(), re.M), "the rate falls again"
            )
            for column in ("WAITING BYTES", "QUEUED BYTES", "STATE BYTES", "FRONTIER"):
                assert column in terminal.screen()
            terminal.type(CTRL_C)
            assert terminal.process.wait(timeout=processes.PATIENCE) == 130
            assert f"flow {job.id} goes on" in terminal.read()
        finally:
            terminal.close()
        job.send("words", [9])
        job.close()
        found = job.results("counts", timeout=processes.PATIENCE)
        assert [epoch for epoch, _ in found] == [0, 5]
        job.wait(timeout=processes.PATIENCE)


def test_it_ends_with_the_flow(three):
    cluster, session = three
    with session.deploy(stalled.word_count()) as job:
        watching = subprocess.Popen(
            [processes.BINARIES / "weir", "watch", job.id, "--interval", "0.1"],
            env={**os.environ, "WEIR_ADDRESS": cluster.address},
            stdout=subprocess.PIPE,
            text=True,
        )
        job.send("words", [1])
        text = ""
        while "is RUNNING" not in text:
            line = watching.stdout.readline()
            assert line, text
            text += line
        job.close()
        text += watching.communicate(timeout=processes.PATIENCE)[0]
        assert watching.returncode == 0
        assert "is RUNNING" in text and "is SUCCEEDED" in text
        assert "\x1b" not in text, "no terminal, nothing to clear"
