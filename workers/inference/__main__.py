"""``python -m workers.inference``: load a model and serve it on this machine."""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import logging
import os
import sys

from workers.inference.huge_pages import restart_with_huge_pages, small_pages_from_now_on


def main() -> int:
    options = _parser().parse_args()
    # OpenMP reads these when torch is imported; spinning threads starve whoever shares the cores.
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")

    import torch

    from kernels.errors import KernelError
    from workers.inference.checkpoints.checkpoint import load_checkpoint
    from workers.inference.engine.engine import PAGE_SIZE, Engine
    from workers.inference.engine.loop import EngineLoop
    from workers.inference.errors import WorkerError
    from workers.inference.model import build_model
    from workers.inference.self_test import self_test
    from workers.inference.server.app import bind, serve
    from workers.inference.server.service import Service

    try:
        listener = bind(options.host, options.port)
    except OSError as error:
        print(f"workers.inference: cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 1
    try:
        checkpoint = load_checkpoint(options.model)
        model = build_model(
            checkpoint,
            mode=options.mode,
            dtype=options.dtype,
            threads=options.threads,
            device=torch.device(options.device),
        )
        verification = self_test(checkpoint, model, skip=options.skip_self_test)
        del checkpoint
        _give_back_memory()
        engine = Engine(
            model.decoder,
            max_batch=options.max_batch,
            pages=1 + -(-options.cache_tokens // PAGE_SIZE),
            max_step_tokens=options.max_step_tokens,
        )
        small_pages_from_now_on()
        service = Service(model, EngineLoop(engine, options.max_waiting), verification)
        asyncio.run(serve(service, listener))
    except (WorkerError, KernelError) as error:
        print(f"workers.inference: {error}", file=sys.stderr)
        return 1
    return 0


def _give_back_memory() -> None:
    """Return what loading and the self test freed (over 1 GB for the bundled model) to the machine.

    glibc keeps it otherwise, for a process that never needs so much again. Other C libraries are left alone.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m workers.inference", description=__doc__)
    parser.add_argument("--model", default="bundled", help="'bundled', a Hugging Face folder or a .gguf file")
    parser.add_argument("--mode", choices=["invariant", "fast"], default="invariant")
    parser.add_argument("--dtype", choices=["bf16", "fp32"], default="bf16")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument("--threads", type=int, default=1, help="torch threads; part of the fingerprint")
    parser.add_argument("--max-batch", type=int, default=16, help="sequences that share a step")
    parser.add_argument("--max-waiting", type=int, default=256, help="sequences that may wait; more get 429")
    parser.add_argument("--max-step-tokens", type=int, default=256, help="rows of a step; longer prompts are cut")
    parser.add_argument("--cache-tokens", type=int, default=16384, help="tokens the key-value cache holds")
    parser.add_argument("--skip-self-test", action="store_true", help="serve invariant mode without checking it")
    return parser


if __name__ == "__main__":
    restart_with_huge_pages()
    sys.exit(main())
