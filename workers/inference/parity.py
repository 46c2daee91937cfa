"""``python -m workers.inference.parity``: is the policy that is trained the policy that sampled?

Decoding, scoring and a differentiable forward give log-probabilities to the same tokens. In invariant mode they are
equal to the bit, so KL(sampler || trainer) is 0.0 and policy-gradient training is on-policy without any correction.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence as Items
from dataclasses import asdict, dataclass

import torch

from workers.inference.checkpoints.checkpoint import Checkpoint, load_checkpoint
from workers.inference.models.config import ModelConfig
from workers.inference.models.decoder import Decoder
from workers.inference.operators.operators import operators_for
from workers.inference.recorder import RecordingEngine
from workers.inference.training.trainer import all_logprobs, trainable_decoder

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
MODES = ("invariant", "fast")

TOY = ModelConfig(
    family="llama", vocabulary=128, width=128, layers=3, heads=4, kv_heads=2, head_width=32, feed_forward=512,
    norm_eps=1e-5, rope_theta=10_000.0, rope_scaling=None, context=128, tied_embeddings=True, qkv_bias=False,
    output_bias=False, head_norms=False, end_tokens=frozenset(),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two ways to the same distributions are apart, over ``tokens`` positions."""

    tokens: int
    max_difference: float
    kl: float


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step of policy gradient: mean reward, and sampler against trainer."""

    reward: float
    distance: Distance


def distance(sampler: Items[torch.Tensor], trainer: Items[torch.Tensor]) -> Distance:
    """Largest |difference| of log-probabilities and mean KL(sampler || trainer) in nats: lists of float32 [T, V].

    Equal bits give exactly 0.0 for both, since each term of the KL carries the factor ``log p - log q``.
    """
    p, q = torch.cat(list(sampler)).double(), torch.cat(list(trainer)).detach().double()
    return Distance(len(p), float((p - q).abs().max()), float((p.exp() * (p - q)).sum(-1).mean()))


def sample(
    decoder: Decoder, prompts: Items[Items[int]], new_tokens: int, temperature: float, seed: int
) -> tuple[list[list[int]], list[torch.Tensor]]:
    """Generate in one continuous batch. Returns token ids and the log-probabilities each token was drawn from."""
    engine = RecordingEngine(decoder, max_batch=len(prompts))
    sequences = [
        engine.submit(prompt, new_tokens, score=False, temperature=temperature, seed=seed + index)
        for index, prompt in enumerate(prompts)
    ]
    engine.run_to_end()
    drawn_from = []
    for sequence in sequences:
        rows = engine.rows[sequence.number]
        drawn_from.append(decoder.ops.log_softmax(torch.stack([rows[place] for place in sorted(rows)])))
    return [sequence.token_ids for sequence in sequences], drawn_from


def compare_paths(checkpoint: Checkpoint, mode: str, dtype: torch.dtype, new_tokens: int) -> dict[str, Distance]:
    """Decoding against scoring and against the differentiable forward, on a model's own weights."""
    generator = torch.Generator().manual_seed(5)
    prompts = [
        torch.randint(checkpoint.config.vocabulary, (9 + 5 * n,), generator=generator).tolist() for n in range(6)
    ]
    decoder = Decoder(checkpoint.config, checkpoint.weights, operators_for(mode), dtype)
    token_ids, decoded = sample(decoder, prompts, new_tokens, temperature=1.0, seed=1)
    scorer = RecordingEngine(decoder, max_batch=len(prompts), prefix_caching=False)
    scored_sequences = [scorer.submit(ids, 0) for ids in token_ids]
    scorer.run_to_end()
    scored = []
    for prompt, sequence in zip(prompts, scored_sequences, strict=True):
        rows = scorer.rows[sequence.number]
        wanted = range(len(prompt) - 1, len(sequence) - 1)
        scored.append(decoder.ops.log_softmax(torch.stack([rows[place] for place in wanted])))
    with torch.no_grad():
        trainer = trainable_decoder(checkpoint.config, checkpoint.weights, mode, dtype)
        trained = [
            rows[len(prompt) - 1 :] for prompt, rows in zip(prompts, all_logprobs(trainer, token_ids), strict=True)
        ]
    return {"scoring": distance(decoded, scored), "trainer": distance(decoded, trained)}


def train_toy(mode: str, dtype: torch.dtype, steps: int) -> list[TrainingStep]:
    """REINFORCE on a small random decoder that is paid for even token ids; no importance weights."""
    parameters = _random_parameters()
    optimiser = torch.optim.SGD(parameters.values(), lr=2.0)
    prompts = [[3 + index, 5, 7 * index % 128] for index in range(12)]
    history = []
    for step in range(steps):
        frozen = {name: tensor.detach() for name, tensor in parameters.items()}
        sampler = Decoder(TOY, frozen, operators_for(mode), dtype)
        token_ids, drawn_from = sample(sampler, prompts, 12, temperature=1.0, seed=1000 * step)
        rewards = torch.tensor([[float(token % 2 == 0) for token in ids[3:]] for ids in token_ids])
        trained = [rows[2:] for rows in all_logprobs(trainable_decoder(TOY, parameters, mode, dtype), token_ids)]
        chosen = torch.stack(
            [rows.gather(1, torch.tensor(ids[3:])[:, None])[:, 0] for rows, ids in zip(trained, token_ids, strict=True)]
        )
        history.append(TrainingStep(float(rewards.mean()), distance(drawn_from, trained)))
        loss = -((rewards - rewards.mean()) * chosen).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return history


def _random_parameters() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(23)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) * 0.08

    split = {"q_proj": TOY.heads, "k_proj": TOY.kv_heads, "v_proj": TOY.kv_heads}
    parameters = {
        "model.embed_tokens.weight": draw(TOY.vocabulary, TOY.width),
        "model.norm.weight": torch.ones(TOY.width),
    }
    for index in range(TOY.layers):
        prefix = f"model.layers.{index}"
        for name, count in split.items():
            parameters[f"{prefix}.self_attn.{name}.weight"] = draw(count * TOY.head_width, TOY.width)
        parameters[f"{prefix}.self_attn.o_proj.weight"] = draw(TOY.width, TOY.heads * TOY.head_width)
        for name in ("gate_proj", "up_proj"):
            parameters[f"{prefix}.mlp.{name}.weight"] = draw(TOY.feed_forward, TOY.width)
        parameters[f"{prefix}.mlp.down_proj.weight"] = draw(TOY.width, TOY.feed_forward)
        for name in ("input_layernorm", "post_attention_layernorm"):
            parameters[f"{prefix}.{name}.weight"] = torch.ones(TOY.width)
    return {name: tensor.requires_grad_() for name, tensor in parameters.items()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m workers.inference.parity", description=__doc__)
    parser.add_argument("--model", default="bundled", help="'bundled', a Hugging Face folder or a .gguf file")
    parser.add_argument("--dtype", default="bf16", choices=sorted(DTYPES))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=16, help="new tokens per prompt")
    parser.add_argument("--steps", type=int, default=6, help="training steps on the toy task")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dtype = DTYPES[options.dtype]
    checkpoint = load_checkpoint(options.model)
    paths = {mode: compare_paths(checkpoint, mode, dtype, options.tokens) for mode in MODES}
    training = {mode: train_toy(mode, dtype, options.steps) for mode in MODES}
    exact = all(found.max_difference == found.kl == 0.0 for found in paths["invariant"].values()) and all(
        step.distance.kl == 0.0 for step in training["invariant"]
    )
    if options.json:
        found_paths = {mode: {name: asdict(found) for name, found in both.items()} for mode, both in paths.items()}
        found_steps = {mode: [asdict(step) for step in history] for mode, history in training.items()}
        document = {"model": checkpoint.name, "dtype": options.dtype, "exact": exact}
        print(json.dumps(document | {"paths": found_paths, "training": found_steps}))
    else:
        print(_table(checkpoint.name, options.dtype, paths, training))
    return 0 if exact else 1


def _table(
    name: str, dtype: str, paths: dict[str, dict[str, Distance]], training: dict[str, list[TrainingStep]]
) -> str:
    lines = [f"{name}, {dtype}: decoding against", ""]
    for mode, both in paths.items():
        for path, found in both.items():
            lines.append(
                f"  {mode:<10} {path:<8} max |difference| {found.max_difference:<10.3g} KL {found.kl:<10.3g} "
                f"over {found.tokens} tokens"
            )
    lines += ["", "Policy gradient on a toy task, sampler against trainer:", ""]
    lines.append(f"  {'step':<6}" + "".join(f"{mode + ' reward':<20}{mode + ' KL':<16}" for mode in training))
    for step, row in enumerate(zip(*training.values(), strict=True)):
        lines.append(f"  {step:<6}" + "".join(f"{one.reward:<20.3f}{one.distance.kl:<16.3g}" for one in row))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
