"""`python -m workers.up`, which `make up` calls."""

from __future__ import annotations

import os
import signal
import sys

from workers.embedded import EmbeddedError
from workers.up.leftovers import end_leftovers, take_lock
from workers.up.places import HOST, StartError, free_port, port_is_free
from workers.up.say import say
from workers.up.stack import Stack


def main() -> int:
    port = int(os.environ.get("PORT", "8000"))
    stack = Stack(port, demo=os.environ.get("DEMO", "") not in ("", "0"))

    def on_signal(number: int, frame: object) -> None:
        if not stack.stopping:
            stack.stopping = True
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    say("Tidegauge is starting. Logs: .data/logs/")
    try:
        lock = take_lock()
        end_leftovers()
        if not port_is_free(port):
            raise StartError(f"Port {port} is taken. Choose another: make up PORT={free_port()}")
        password = stack.start()
        greet(port, password)
        stack.watch()
        lock.close()
    except KeyboardInterrupt:
        say("\nStopping ...")
    except (StartError, EmbeddedError) as error:
        say(f"\ntidegauge: {error}")
        return 1
    finally:
        stack.stop()
    say("Stopped. Your data is in .data/")
    return 0


def greet(port: int, password: str | None) -> None:
    say("")
    say(f"  Open      http://{HOST}:{port}/")
    if password is not None:
        say("  Log in as admin")
        say(f"  Password  {password}   (shown once; change it with: .venv/bin/python manage.py changepassword admin)")
    else:
        say("  Log in as admin (forgotten? .venv/bin/python manage.py changepassword admin)")
    say("  The first measured divergence is on the page within three minutes. Ctrl-C stops everything.")
    say("")


if __name__ == "__main__":
    sys.exit(main())
