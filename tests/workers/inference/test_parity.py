"""Sampler equals trainer: one policy, to the bit, and gradients that are right."""

from __future__ import annotations

import pytest
import torch

from tests.workers.inference.tiny import random_prompts, save_family
from workers.inference.checkpoints.checkpoint import load_checkpoint
from workers.inference.parity import compare_paths, distance, train_toy
from workers.inference.training.trainer import all_logprobs, trainable_decoder


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def test_decoding_scoring_and_the_trainer_agree_to_the_bit(tiny, dtype) -> None:
    found = compare_paths(tiny, "invariant", dtype, new_tokens=10)

    assert {name: (one.max_difference, one.kl) for name, one in found.items()} == {
        "scoring": (0.0, 0.0),
        "trainer": (0.0, 0.0),
    }


def test_stock_operators_do_not_agree(tiny) -> None:
    found = compare_paths(tiny, "fast", torch.bfloat16, new_tokens=10)

    assert found["scoring"].max_difference > 0
    assert found["trainer"].max_difference > 0


def test_policy_gradient_stays_on_policy_in_one_mode_and_drifts_in_the_other() -> None:
    invariant = train_toy("invariant", torch.bfloat16, steps=3)
    fast = train_toy("fast", torch.bfloat16, steps=3)

    assert [step.distance.kl for step in invariant] == [0.0] * 3
    assert [step.distance.max_difference for step in invariant] == [0.0] * 3
    assert all(step.distance.kl > 0 for step in fast)
    assert invariant[-1].reward > invariant[0].reward


@pytest.mark.parametrize("family", ["qwen2", "qwen3", "smollm2"])
def test_gradients_equal_those_of_transformers(family, tmp_path) -> None:
    reference = save_family(family, tmp_path)
    parameters = {
        name: tensor.float().requires_grad_() for name, tensor in load_checkpoint(str(tmp_path)).weights.items()
    }
    ids = random_prompts(1, seed=1, low=40, high=41)[0]

    decoder = trainable_decoder(load_checkpoint(str(tmp_path)).config, parameters, "invariant", torch.float32)
    (rows,) = all_logprobs(decoder, [ids])
    rows.gather(1, torch.tensor(ids[1:])[:, None]).mean().backward()

    expected = torch.log_softmax(reference(torch.tensor([ids])).logits[0, :-1], -1)
    expected.gather(1, torch.tensor(ids[1:])[:, None]).mean().backward()
    theirs = dict(reference.named_parameters())
    for name, parameter in parameters.items():
        assert torch.allclose(parameter.grad, theirs[name].grad, rtol=1e-2, atol=1e-5), name


def test_the_distance_of_a_distribution_to_itself_is_zero_and_to_another_is_its_kl() -> None:
    p = torch.log_softmax(torch.tensor([[1.0, 2.0, 3.0]]), -1)
    q = torch.log_softmax(torch.tensor([[3.0, 2.0, 1.0]]), -1)

    assert (distance([p], [p]).kl, distance([p], [p]).max_difference) == (0.0, 0.0)
    expected = torch.nn.functional.kl_div(q, p, log_target=True, reduction="sum").item()
    assert distance([p], [q]).kl == pytest.approx(expected, rel=1e-5)
