"""A run varies how much is in flight, so that it meets batches of several sizes."""

from __future__ import annotations

import asyncio

from workers.probe.flight import Flight


def most_at_once(rounds: list[int], places: int) -> dict[int, int]:
    """For each round the most requests that flew when one of it took off."""
    seen: dict[int, int] = {}
    flying = 0

    async def one(flight: Flight, number: int) -> None:
        nonlocal flying
        async with flight.room(number):
            flying += 1
            seen[number] = max(seen.get(number, 0), flying)
            await asyncio.sleep(0.002)
            flying -= 1

    async def all_of_them() -> None:
        flight = Flight(places)
        await asyncio.gather(*(one(flight, number) for number in rounds for _ in range(20)))

    asyncio.run(all_of_them())
    return seen


def test_even_rounds_fly_half_and_odd_rounds_all() -> None:
    assert most_at_once([0], 8) == {0: 4}
    assert most_at_once([1], 8) == {1: 8}


def test_a_single_place_is_always_used() -> None:
    assert most_at_once([0, 1], 1) == {0: 1, 1: 1}
