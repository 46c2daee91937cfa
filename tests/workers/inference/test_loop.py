"""The engine's thread: bounded queue, cancellation from outside, and steps that fail."""

from __future__ import annotations

import queue
import threading

import pytest

from tests.workers.inference.tiny import answer, random_prompts
from workers.inference.engine.engine import Engine
from workers.inference.engine.loop import EngineLoop
from workers.inference.errors import QueueFullError


class Progresses(queue.SimpleQueue):
    """A listener's list that can be waited on."""

    def append(self, progress) -> None:
        self.put(progress)


@pytest.fixture
def loop(tiny_decoder):
    made = EngineLoop(Engine(tiny_decoder, max_batch=2), max_waiting=3)
    yield made
    if made._thread.is_alive():
        made.stop()


def test_requests_from_many_threads_are_all_answered(loop) -> None:
    loop.start()
    seen = Progresses()

    def ask(number: int) -> None:
        while True:
            try:
                loop.submit([answer([3 + number, 4], seen, max_tokens=1)])
            except QueueFullError:
                continue
            return

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert [seen.get(timeout=30).finish_reason for _ in range(12)] == ["length"] * 12


def test_more_than_may_wait_is_refused_whole_with_a_time_to_come_back(loop) -> None:
    loop.submit([answer([3]), answer([4]), answer([5])])

    with pytest.raises(QueueFullError, match="already waiting") as refused:
        loop.submit([answer([6]), answer([7]), answer([8])])

    assert refused.value.retry_after_s >= 1
    assert loop.waiting == 3


def test_a_cancelled_sequence_makes_way_while_the_engine_runs(loop) -> None:
    loop.start()
    seen = Progresses()
    endless = answer(random_prompts(1)[0], seen, max_tokens=400)
    loop.submit([endless])
    seen.get(timeout=30)

    loop.cancel(endless)
    after = Progresses()
    loop.submit([answer([3, 4], after, max_tokens=1)])

    assert after.get(timeout=30).finish_reason == "length"
    assert endless.finish_reason == "cancelled"


def test_a_step_that_fails_gives_up_its_sequences_and_the_engine_goes_on(loop, monkeypatch, caplog) -> None:
    run = loop.engine.runner.run
    failures = iter([True])

    def failing(chunks, wanted):
        if next(failures, False):
            raise RuntimeError("out of paper")
        return run(chunks, wanted)

    monkeypatch.setattr(loop.engine.runner, "run", failing)
    unlucky, lucky = Progresses(), Progresses()
    loop.submit([answer([3, 4], unlucky)])
    loop.start()
    assert unlucky.get(timeout=30).finish_reason == "error"

    loop.submit([answer([3, 4], lucky, max_tokens=1)])

    assert lucky.get(timeout=30).finish_reason == "length"
    assert "out of paper" in caplog.text
    assert loop.engine.blocks.free_pages == loop.engine.blocks.capacity
