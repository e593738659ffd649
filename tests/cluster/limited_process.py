"""Processes in control groups: what each may take, what it takes, whether it was killed for it."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time


class Group:
    """A control group below that of this process; the files of both versions."""

    NAMES = {
        2: ("memory.max", "memory.peak", "memory.current"),
        1: ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.usage_in_bytes"),
    }

    def __init__(self, folder, version):
        self.folder = pathlib.Path(folder)
        self.version = version
        self.limit_file, self.peak_file, self.usage_file = self.NAMES[version]

    @classmethod
    def make(cls, name):
        """Returns: a new group; None where none can be made."""
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "memory":
                parents, version = ["/sys/fs/cgroup/memory" + path], 1
            elif controllers == "":
                own = pathlib.Path("/sys/fs/cgroup" + path)
                parents, version = [own, own.parent], 2
            else:
                continue
            for parent in parents:
                group = cls(f"{parent}/{name}", version)
                try:
                    group.folder.mkdir()
                except OSError:
                    continue
                if (group.folder / group.limit_file).exists():
                    return group
                group.folder.rmdir()
        return None

    def read(self, file):
        return (self.folder / file).read_text()

    def set_limit(self, size):
        (self.folder / self.limit_file).write_text(str(size))

    def usage(self):
        return int(self.read(self.usage_file))

    def peak(self):
        return int(self.read(self.peak_file))

    def kills(self):
        text = self.read("memory.events" if self.version == 2 else "memory.oom_control")
        return int(dict(line.split() for line in text.splitlines())["oom_kill"])

    def remove(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class Process:
    """One process of the cluster, in a control group of its own if there are such."""

    def __init__(self, name, args, log, limit=None):
        """`log`: where its output goes; `limit`: bytes that it may take, if there are groups."""
        self.name = name
        self.group = Group.make(f"weir-{os.getpid()}-{name}")
        if self.group and limit:
            self.group.set_limit(limit)
        enter = f"echo $$ > {self.group.folder}/cgroup.procs && " if self.group else ""
        self._log = open(log, "wb")
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", enter + 'exec "$@"', "sh", *map(str, args)],
            stdout=self._log,
            stderr=self._log,
        )
        self.pid = self._process.pid

    def own_bytes(self):
        """Returns: memory that is not of files."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no RssAnon")

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read_bytes(self):
        """Returns: what it has read from disks."""
        for line in pathlib.Path(f"/proc/{self.pid}/io").read_text().splitlines():
            if line.startswith("read_bytes:"):
                return int(line.split()[1])
        raise AssertionError("no read_bytes")

    def unnamed_files(self, folder):
        """Returns: how many files of a folder it has open that have no name."""
        found = 0
        for number in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/{self.pid}/fd/{number}")
                found += target.startswith(folder) and "(deleted)" in target
        return found

    def is_alive(self):
        return self._process.poll() is None

    def kill(self, number=signal.SIGKILL):
        self._process.send_signal(number)
        self._process.wait()

    def close(self):
        if self.is_alive():
            self.kill()
        self._log.close()
        if self.group:
            for _ in range(50):
                self.group.remove()
                if not self.group.folder.exists():
                    break
                time.sleep(0.1)
