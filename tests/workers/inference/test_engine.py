"""The engine: what a request gets does not depend on who else is there, nor on what happens to it on the way."""

from __future__ import annotations

import pytest
import torch

from tests.workers.inference.tiny import answer, make_decoder, random_prompts
from workers.inference.engine.engine import Engine
from workers.inference.engine.sequence import Status
from workers.inference.recorder import RecordingEngine, score_alone


def generate(decoder, prompts, **settings) -> list[list[int]]:
    params = {name: settings.pop(name) for name in ("temperature", "seed", "max_tokens") if name in settings}
    engine = Engine(decoder, **settings)
    answers = [answer(prompt, **params) for prompt in prompts]
    for one in answers:
        engine.add(one)
    engine.run_to_end()
    assert engine.blocks.free_pages == engine.blocks.capacity
    return [one.token_ids for one in answers]


@pytest.mark.parametrize("temperature", [0.0, 0.9])
@pytest.mark.parametrize(
    "settings",
    [
        {"max_batch": 2},
        {"max_batch": 64},
        {"max_batch": 8, "max_step_tokens": 8},
        {"max_batch": 8, "pages": 14},
        {"max_batch": 8, "prefix_caching": False},
    ],
    ids=["pairs", "all at once", "small steps", "crowded cache", "no prefix cache"],
)
def test_answers_are_those_of_a_request_alone(tiny_decoder, settings, temperature) -> None:
    prompts = random_prompts(12, seed=3)
    alone = generate(tiny_decoder, prompts, max_batch=1, temperature=temperature, seed=9)

    together = generate(tiny_decoder, prompts, temperature=temperature, seed=9, **settings)

    assert together == alone


def test_a_crowded_cache_preempts_and_still_finishes_everyone(tiny_decoder) -> None:
    engine = RecordingEngine(tiny_decoder, max_batch=6, pages=9, prefix_caching=False)
    prompts = [prompt[:16] for prompt in random_prompts(6, seed=5, low=20)]
    sequences = [engine.submit(prompt, 20) for prompt in prompts]

    engine.run_to_end()

    assert engine.scheduler.preemptions > 0
    for sequence in sequences:
        assert sequence.finish_reason == "length"
        rows = engine.rows[sequence.number]
        alone = score_alone(tiny_decoder, sequence.token_ids)
        assert all(torch.equal(row, alone[position]) for position, row in rows.items())


def test_a_shared_prefix_is_computed_once(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=4)
    prefix = random_prompts(1, seed=8, low=50, high=51)[0]
    first, second = answer([*prefix, 7]), answer([*prefix, 9])
    engine.add(first)
    engine.run_to_end()
    computed = engine.counters.prompt_tokens

    engine.add(second)
    engine.run_to_end()

    assert second.cached_tokens == 48
    assert engine.counters.prompt_tokens - computed == len(prefix) + 1 - 48


def test_an_identical_prompt_still_computes_its_last_token(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=4)
    prompt = random_prompts(1, seed=8, low=48, high=49)[0]
    first, second = answer(prompt), answer(prompt)
    for one in (first, second):
        engine.add(one)
        engine.run_to_end()

    assert second.cached_tokens == 32
    assert second.token_ids == first.token_ids


def test_prefixes_that_nobody_holds_give_way_to_new_requests(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=2, pages=8)
    for seed in range(30):
        engine.add(answer(random_prompts(1, seed=seed, low=30, high=60)[0]))
    engine.run_to_end()

    assert engine.counters.finished == 30
    assert engine.blocks.free_pages == engine.blocks.capacity


def test_a_cancelled_request_frees_its_place_before_the_next_step(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=1)
    steps: list = []
    leaving, staying = answer(random_prompts(1)[0], steps, max_tokens=200), answer([5, 6, 7])
    engine.add(leaving)
    engine.add(staying)
    engine.step()
    engine.step()
    assert leaving.status is Status.RUNNING

    engine.cancel(leaving)
    engine.step()

    assert staying.generated == 1
    assert len(steps) == 2
    assert not leaving.pages


def test_a_short_prompt_gets_its_first_token_while_others_decode(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=16)
    for prompt in random_prompts(15, seed=2):
        engine.add(answer(prompt, max_tokens=100))
    while any(sequence.remaining > 1 for sequence in engine.scheduler.running) or engine.scheduler.waiting:
        engine.step()
    late = answer(random_prompts(1, seed=77, low=20, high=21)[0])

    engine.add(late)
    engine.step()

    assert late.generated == 1


def test_a_long_prompt_does_not_stop_the_others(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=2, max_step_tokens=32)
    short, long = answer([4, 5], max_tokens=50), answer(random_prompts(1, low=300, high=301)[0])
    engine.add(short)
    engine.step()
    engine.add(long)

    before = short.generated
    for _ in range(5):
        engine.step()

    assert long.generated == 0
    assert short.generated == before + 5


def test_batch_sizes_tell_how_many_shared_each_step(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=8)
    first = answer([3, 4, 5], max_tokens=6)
    engine.add(first)
    engine.step()
    engine.step()
    for prompt in random_prompts(3):
        engine.add(answer(prompt, max_tokens=20))
    engine.run_to_end()

    assert first.batch_sizes == [1, 1, 4, 4, 4, 4]


def test_an_end_token_ends_the_answer_and_the_context_bounds_it(tiny, tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=1, pages=4)
    bounded = answer([3, 4, 5], max_tokens=1000)
    engine.add(bounded)
    engine.run_to_end()
    assert (bounded.finish_reason, len(bounded)) == ("length", 48)

    ended = answer([3, 4, 5], max_tokens=1000, temperature=1.0, ignore_end=False, seed=4)
    roomy = Engine(tiny_decoder, max_batch=1)
    roomy.add(ended)
    roomy.run_to_end()
    assert ended.finish_reason in ("stop", "length")
    assert (ended.token_ids[-1] in tiny.config.end_tokens) == (ended.finish_reason == "stop")


def test_fast_mode_gives_the_same_kind_of_answers(tiny) -> None:
    """In float32 on a small model stock operators agree to the token, whatever their bits."""
    prompts = random_prompts(6, seed=11)

    assert generate(make_decoder(tiny, "fast"), prompts) == generate(make_decoder(tiny), prompts)


def test_memory_and_bookkeeping_do_not_grow_with_the_number_of_requests(tiny_decoder) -> None:
    engine = Engine(tiny_decoder, max_batch=16, pages=65)
    for index in range(600):
        engine.add(answer([3 + index % 300, 3 + index // 300, 9], max_tokens=2))
    engine.run_to_end()

    assert engine.counters.finished == 600
    assert engine.blocks.free_pages == 64
    assert len(engine.blocks._page_of) <= 64
    assert not engine.scheduler.running
    assert not engine.scheduler.waiting
