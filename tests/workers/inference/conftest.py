"""A tiny model for the engine's tests and one real server for those that speak HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import openai
import pytest

from tests.workers.inference.tiny import make_decoder, tiny_checkpoint
from workers.inference.checkpoints.checkpoint import Checkpoint, load_checkpoint
from workers.inference.models.decoder import Decoder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return tiny_checkpoint(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def tiny_decoder(tiny: Checkpoint) -> Decoder:
    return make_decoder(tiny)


@pytest.fixture(scope="session")
def bundled() -> Checkpoint:
    return load_checkpoint("bundled")


@dataclass(frozen=True)
class RunningServer:
    url: str
    fingerprint: str
    process: subprocess.Popen[str]

    @property
    def root(self) -> str:
        return self.url.removesuffix("/v1")


def start_server(*arguments: str) -> RunningServer:
    """Start the worker as its users do, with nothing of Django in its environment."""
    environment = {name: value for name, value in os.environ.items() if "DJANGO" not in name}
    process = subprocess.Popen(
        [sys.executable, "-m", "workers.inference", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        _, errors = process.communicate()
        raise RuntimeError(errors)
    ready = json.loads(line)
    return RunningServer(ready["url"], ready["fingerprint"], process)


def stop_server(server: RunningServer) -> int:
    server.process.send_signal(signal.SIGTERM)
    _, errors = server.process.communicate(timeout=20)
    assert "Traceback" not in errors, errors
    return server.process.returncode


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """The real model in invariant mode, self-test included; 4 places, 6 may wait, a small cache."""
    running = start_server("--max-batch", "4", "--max-waiting", "6", "--cache-tokens", "4096")
    yield running
    assert stop_server(running) == 0


@pytest.fixture(scope="session")
def client(server: RunningServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=120)
