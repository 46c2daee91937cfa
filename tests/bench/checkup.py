"""Do the intervals of a check-up hold? The 200 simulated endpoints of the tests, figure by figure.

`make bench-checkup` writes docs/benchmarks/checkup.md. The draws are fixed: the same code prints the same numbers.
"""

from __future__ import annotations

import os
from pathlib import Path

DOC = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "checkup.md"
HEAD = """\
# Check-up: do its intervals hold?

{endpoints} simulated endpoints with drawn flip rates, growth under load, near-ties, seeds and cold starts are checked up;
{questions} questions, {repeats} answers each, in flight {levels}. Counted: how often the stated 95 % interval holds what was
set. Written by `make bench-checkup`; `tests/workers/checkup/test_recovery.py` asks for at least {mark:.0%} of each.

| Figure | Intervals | Hold | Share |
|---|---|---|---|
"""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
    import django

    django.setup()
    from tests.workers.checkup import test_recovery as recovery

    found = recovery.coverage(recovery.check_up_all())
    head = HEAD.format(
        endpoints=recovery.ENDPOINTS,
        questions=len(recovery.QUESTIONS),
        repeats=recovery.WISH.repeats,
        levels=" and ".join(map(str, recovery.WISH.concurrencies)),
        mark=recovery.COVERAGE,
    )
    lines = [f"| {name} | {of} | {held} | {held / of:.1%} |" for name, (held, of) in found.items()]
    text = head + "\n".join(lines) + "\n"
    DOC.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
