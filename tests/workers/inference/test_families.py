"""Each family computes what ``transformers`` computes."""

from __future__ import annotations

import dataclasses
import json

import gguf
import numpy as np
import pytest
import torch

from tests.workers.inference.reference import transformers_model
from tests.workers.inference.tiny import FAMILIES, VOCABULARY, make_decoder, save_family
from workers.inference.checkpoints.checkpoint import load_checkpoint
from workers.inference.errors import UnsupportedModelError
from workers.inference.models.config import from_huggingface
from workers.inference.recorder import score_alone

IDS = torch.randint(3, VOCABULARY, (90,), generator=torch.Generator().manual_seed(4)).tolist()


@pytest.mark.parametrize("mode", ["invariant", "fast"])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_logits_equal_those_of_transformers(family, mode, tmp_path) -> None:
    reference = save_family(family, tmp_path)

    logits = score_alone(make_decoder(load_checkpoint(str(tmp_path)), mode), IDS)

    with torch.no_grad():
        expected = reference(torch.tensor([IDS])).logits[0]
    assert torch.allclose(logits, expected, rtol=1e-3, atol=1e-3), (logits - expected).abs().max()


def test_a_sharded_checkpoint_reads_like_a_whole_one(tmp_path) -> None:
    save_family("smollm2", tmp_path / "whole")
    save_family("smollm2", tmp_path / "shards", max_shard_size="100KB")
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1

    whole, shards = (load_checkpoint(str(tmp_path / name)) for name in ("whole", "shards"))

    assert whole.weights.keys() == shards.weights.keys()
    assert all(torch.equal(whole.weights[name], shards.weights[name]) for name in whole.weights)


def test_the_bundled_model_computes_what_transformers_does(bundled) -> None:
    reference = transformers_model(torch.float32)
    ids = torch.randint(49_152, (40,), generator=torch.Generator().manual_seed(1)).tolist()

    exact = score_alone(make_decoder(bundled), ids)
    rounded = score_alone(make_decoder(bundled, dtype=torch.bfloat16), ids)

    with torch.no_grad():
        expected = reference(torch.tensor([ids])).logits[0]
        theirs = reference.to(torch.bfloat16)(torch.tensor([ids])).logits[0].float()
    assert torch.allclose(exact, expected, rtol=1e-3, atol=2e-3), (exact - expected).abs().max()
    # In bf16 nobody is exact; ours may not be farther off than what everybody uses.
    assert (rounded - expected).abs().mean() < 1.25 * (theirs - expected).abs().mean()


def test_a_gguf_file_of_llama_undoes_the_order_of_rotary_pairs(tmp_path) -> None:
    """Written the way llama.cpp's converter does: (i, i + D/2) stored as neighbours."""
    model = save_family("smollm2", tmp_path / "folder")
    config, state = model.config, model.state_dict()
    writer = gguf.GGUFWriter(tmp_path / "tiny-F32.gguf", "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(64)
    writer.add_block_count(2)
    writer.add_feed_forward_length(192)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_eos_token_id(2)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 2)
    for name, tensor in state.items():
        if name == "lm_head.weight":
            continue
        values = tensor.numpy()
        for part, heads in (("q_proj", 4), ("k_proj", 2)):
            if part in name:
                halves = values.reshape(heads, 2, values.shape[0] // heads // 2, -1)
                values = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(values.shape)
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    checkpoint = load_checkpoint(str(tmp_path / "tiny-F32.gguf"))

    assert checkpoint.name == "tiny"
    assert checkpoint.config.end_tokens == {2}
    with torch.no_grad():
        expected = model(torch.tensor([IDS])).logits[0]
    assert torch.allclose(score_alone(make_decoder(checkpoint), IDS), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model_type": "gpt2"}, "family 'gpt2'"),
        ({"hidden_act": "gelu"}, "Activation 'gelu'"),
        ({"num_key_value_heads": 3}, "cannot share"),
    ],
)
def test_what_the_decoder_does_not_compute_is_refused_with_the_reason(change, reason, tmp_path) -> None:
    save_family("smollm2", tmp_path)
    raw = json.loads((tmp_path / "config.json").read_text()) | change

    with pytest.raises(UnsupportedModelError, match=reason):
        from_huggingface(raw)


def test_unknown_rotary_scaling_and_missing_tensors_are_refused(tiny) -> None:
    strange = dataclasses.replace(tiny.config, rope_scaling={"rope_type": "yarn"})
    with pytest.raises(UnsupportedModelError, match="yarn"):
        _ = strange.inverse_frequencies

    weights = {name: tensor for name, tensor in tiny.weights.items() if "layers.1.mlp.down" not in name}
    with pytest.raises(UnsupportedModelError, match=r"lacks model\.layers\.1\.mlp\.down_proj\.weight"):
        make_decoder(dataclasses.replace(tiny, weights=weights))


def test_a_sliding_window_limits_the_context(tmp_path) -> None:
    save_family("mistral", tmp_path)

    assert load_checkpoint(str(tmp_path)).config.context == 256


@pytest.mark.parametrize("model", ["nowhere", "requirements.txt"])
def test_a_model_that_is_not_there_is_an_error_that_says_what_is_accepted(model) -> None:
    with pytest.raises(UnsupportedModelError, match="neither 'bundled'"):
        load_checkpoint(model)
