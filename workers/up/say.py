"""What the person at the terminal reads."""

from __future__ import annotations

import time


def say(text: str) -> None:
    print(text, flush=True)


class Step:
    """A line that says what is going on and, when it is over, how long it took."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __enter__(self) -> None:
        self.started = time.monotonic()
        print(f"  {self.text} ...", end="", flush=True)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        print(f" {'failed' if kind else 'done'} ({time.monotonic() - self.started:.1f} s)", flush=True)
