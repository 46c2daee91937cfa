"""One `make up` at a time, and nothing left behind by one that was killed."""

from __future__ import annotations

import fcntl
import json
import subprocess
from contextlib import suppress
from typing import IO

import psutil

from workers.up.places import DATA, PIDS, StartError


def take_lock() -> IO[str]:
    """Holds `.data/up.lock` for as long as this process lives. Raises StartError if another `make up` has it."""
    DATA.mkdir(mode=0o711, exist_ok=True)
    lock = (DATA / "up.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StartError("Tidegauge is already running from this folder. Stop that one first (Ctrl-C).") from error
    return lock


def end_leftovers() -> None:
    """Stops children of an earlier `make up` that was killed before it could stop them."""
    try:
        noted = json.loads(PIDS.read_text())
    except (OSError, ValueError):
        return
    left = []
    for pid, started in noted:
        try:
            process = psutil.Process(pid)
            if abs(process.create_time() - started) < 1:
                left += [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(left, timeout=10)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=5)


def note_children(processes: list[subprocess.Popen[bytes]]) -> None:
    noted = []
    for process in processes:
        try:
            noted.append([process.pid, psutil.Process(process.pid).create_time()])
        except psutil.NoSuchProcess:
            continue
    PIDS.write_text(json.dumps(noted))
