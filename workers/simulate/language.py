"""A pretend language model: every prompt has one best answer, with near-ties at known places where it may leave it.

Each next token depends on all tokens before it, so that one flipped token sends the rest of the answer elsewhere, as
it does in a real model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from workers.simulate.draws import draw
from workers.simulate.scenario import Scenario, Version

_TEXT = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which "
    "one you were all her she there would their we him been has when who will no more if out so up said what its about "
    "than into them can only other time new some could these two may first then do any like my now over such our man "
    "me even most made after also did many off before must well back through years much where your way down should "
    "because long each just state those people too mr how little good world make very year still see work life men "
    "day tide gauge sea level water harbour moon"
)
WORDS = tuple(dict.fromkeys(_TEXT.split()))

TIE_GAP = 0.02
"""Difference of the two best log-probabilities at a near-tie; elsewhere it is at least 0.5."""

CLEAR_GAP = 0.5


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is the token; `ranked` the best alternatives with their log-probabilities, best first, itself included."""

    text: str
    logprob: float
    ranked: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Written:
    tokens: tuple[Token, ...]
    finish: str  # stop or length

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


def write(
    scenario: Scenario,
    version: Version,
    prompt: str,
    *,
    max_tokens: int,
    flip_rate: float,
    temperature: float,
    chance: str,
    heat: str,
    alternatives: int,
) -> Written:
    """One answer. `chance` names the dice of near-ties, `heat` those of sampling: equal dice, equal answer."""
    touched = draw(scenario.seed, "touched", version.salt, prompt) < version.changed_prompts
    salt = version.salt if touched else 0
    length = max(4, round(version.length * (0.5 + draw(scenario.seed, "length", salt, prompt))))
    ties = _tie_positions(scenario, prompt)
    tokens: list[Token] = []
    path = f"{scenario.seed}/{salt}/{prompt}"
    for position in range(min(length, max_tokens)):
        is_tie = position in ties
        best, second = _step(path, position, is_tie, alternatives)
        flips = is_tie and flip_rate > 0 and draw("flip", chance, position) < flip_rate
        if temperature > 0 and draw("heat", heat, position) < min(0.3 * temperature, 0.9):
            flips = not flips
        token, path = second if flips else best
        tokens.append(token)
    return Written(tuple(tokens), "stop" if length <= max_tokens else "length")


def _tie_positions(scenario: Scenario, prompt: str) -> frozenset[int]:
    shift = int(draw(scenario.seed, "shift", prompt) * 5)
    return frozenset(scenario.first_tie + shift + 7 * tie for tie in range(scenario.ties))


@lru_cache(maxsize=1 << 16)
def _step(path: str, position: int, is_tie: bool, alternatives: int) -> tuple[tuple[Token, str], tuple[Token, str]]:
    """The two best next tokens, best first, each with the path that continues it. Most answers share their path."""
    first = int(draw(path, position) * len(WORDS))
    second = (first + 1 + int(draw(path, position, "second") * (len(WORDS) - 1))) % len(WORDS)
    top = -0.69 if is_tie else -0.01 - 0.3 * draw(path, position, "top")
    gap = TIE_GAP if is_tie else CLEAR_GAP + 3 * draw(path, position, "gap")
    ranked = [(first, top), (second, top - gap)]
    others = (
        index % len(WORDS) for index in range(first + 1, first + alternatives + 2) if index % len(WORDS) != second
    )
    for rank, other in enumerate(others):
        if len(ranked) >= alternatives:
            break
        ranked.append((other, top - gap - 1.0 - rank))
    lead = "" if position == 0 else " "
    spelled = tuple((lead + WORDS[index], round(score, 6)) for index, score in ranked)
    best, runner_up = (
        (Token(text, score, spelled[:alternatives]), f"{path[:64]}{draw(path, text)}") for text, score in spelled[:2]
    )
    return best, runner_up
