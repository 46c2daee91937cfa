"""Where things lie on this machine, and which ports are free."""

from __future__ import annotations

import os
import socket
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TIDEGAUGE_DATA", ROOT / ".data"))
LOGS = DATA / "logs"
SETTINGS = DATA / "settings.env"
PIDS = DATA / "pids.json"
HOST = "127.0.0.1"


class StartError(RuntimeError):
    """Something needed could not be started; the message says what to do."""


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
