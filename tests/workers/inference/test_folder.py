"""A model from a Hugging Face folder, tokenizer and all, served without a network or a wheel."""

from __future__ import annotations

import json
import time

import openai
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tests.workers.inference.conftest import start_server, stop_server
from tests.workers.inference.tiny import VOCABULARY, save_family
from workers.inference.checkpoints.checkpoint import load_checkpoint
from workers.inference.errors import InvalidRequestError
from workers.inference.model import build_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Qwen2.5's shape with a byte-level tokenizer of 256 bytes and no chat template."""
    path = tmp_path_factory.mktemp("qwen2-tiny")
    save_family("qwen2", path)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: index + 10 for index, letter in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary | {"<end>": 2}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(path)
    return path


def test_a_folder_is_served_as_it_is(folder) -> None:
    server = start_server("--model", str(folder), "--dtype", "fp32", "--max-batch", "4")
    try:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        name = client.models.list().data[0].id
        answer = client.completions.create(model=name, prompt="abc", max_tokens=6, temperature=0, logprobs=2)
        assert answer.usage.prompt_tokens == 3
        assert len(answer.choices[0].logprobs.tokens) >= answer.usage.completion_tokens - 1
        assert server.fingerprint.endswith("-fp32-inv")
        with pytest.raises(openai.BadRequestError, match="chat template") as refused:
            client.chat.completions.create(model=name, messages=[{"role": "user", "content": "hi"}])
        assert refused.value.param == "messages"
    finally:
        assert stop_server(server) == 0


def test_a_template_that_refuses_roles_is_the_callers_error(folder) -> None:
    model = build_model(load_checkpoint(str(folder)), mode="fast", dtype="fp32")
    model.tokenizer.chat_template = "{{ raise_exception('Roles must alternate') }}"

    with pytest.raises(InvalidRequestError, match="Roles must alternate"):
        model.encode_chat([{"role": "user", "content": "hi"}])


def test_generation_config_adds_its_end_tokens(folder) -> None:
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 7]}))

    assert load_checkpoint(str(folder)).config.end_tokens == {2, 7}
    assert VOCABULARY > 266


def test_memory_stays_flat_over_many_requests(tiny_decoder) -> None:
    """Resident memory after thousands of requests, against that after the first hundreds."""
    import psutil

    from tests.workers.inference.tiny import answer
    from workers.inference.engine.engine import Engine

    engine = Engine(tiny_decoder, max_batch=32, pages=129)
    process = psutil.Process()
    sizes = []
    started = time.monotonic()
    for wave in range(6):
        for index in range(300):
            engine.add(answer([3 + index, 3 + wave, 9], max_tokens=1))
        engine.run_to_end()
        sizes.append(process.memory_info().rss)
        if time.monotonic() - started > 60:
            break

    assert sizes[-1] - sizes[0] < 8 * 1024 * 1024, sizes
