"""The compose file and the Dockerfile say what is true of the project. No Docker engine is needed to tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


@pytest.fixture(scope="module")
def stages() -> dict[str, str]:
    text = (ROOT / "Dockerfile").read_text()
    names = re.findall(r"^FROM \S+ AS (\w+)$", text, re.MULTILINE)
    return dict(zip(names, re.split(r"^FROM .*$", text, flags=re.MULTILINE)[1:], strict=True))


def test_every_part_of_the_service_has_its_container(compose):
    assert {"postgres", "redis", "web", "worker", "scheduler", "beat", "inference"} <= set(compose["services"])


def test_the_gpu_worker_starts_only_when_asked_for(compose):
    gpu = compose["services"]["inference"]
    assert gpu["profiles"] == ["gpu"]
    assert gpu["deploy"]["resources"]["reservations"]["devices"][0]["capabilities"] == ["gpu"]


def test_the_vllm_reference_runs_batch_invariant_at_a_fixed_version(compose):
    vllm = compose["services"]["vllm"]
    assert vllm["profiles"] == ["vllm"]
    assert re.fullmatch(r"vllm/vllm-openai:v\d+\.\d+\.\d+", vllm["image"])
    assert vllm["environment"] == {"VLLM_BATCH_INVARIANT": "1"}
    assert "--no-enable-prefix-caching" in vllm["command"]


def test_no_secret_has_a_default(compose):
    environment = compose["services"]["web"]["environment"]
    for name in ("SECRET_KEY", "FIELD_ENCRYPTION_KEYS"):
        assert environment[name].startswith("${" + name + ":?")
    assert "${POSTGRES_PASSWORD:?" in environment["DATABASE_URL"]


def test_only_the_web_server_is_reachable_and_from_this_machine_alone(compose):
    published = {name: service["ports"] for name, service in compose["services"].items() if "ports" in service}
    assert published == {"web": ["127.0.0.1:8000:8000"]}


def test_each_celery_queue_has_a_worker(compose):
    from workers.celery import app

    commands = [service.get("command", []) for service in compose["services"].values()]
    consumed = {
        queue for command in commands if "-Q" in command for queue in command[command.index("-Q") + 1].split(",")
    }
    assert consumed == {queue.name for queue in app.conf.task_queues}


def test_exactly_one_scheduler_beats(compose):
    beats = [s for s in compose["services"].values() if "beat" in s.get("command", [])]
    assert len(beats) == 1


def test_every_service_builds_a_stage_that_exists_and_runs_a_module_in_it(compose, stages):
    for name, service in compose["services"].items():
        if "build" not in service:
            continue
        stage = stages[service["build"]["target"]]
        if "workers.inference" in service.get("command", []):
            assert "COPY workers/inference" in stage, name


def test_service_images_carry_no_torch(stages):
    assert "requirements-services.txt" in stages["services"]
    services = (ROOT / "requirements-services.txt").read_text()
    assert not re.search(r"^(torch|transformers|triton)", services, re.MULTILINE)
    assert "inference" not in stages["services"]


def test_every_file_that_an_image_copies_exists(stages):
    for stage in stages.values():
        for sources in re.findall(r"^COPY (.+) \S+$", stage, re.MULTILINE):
            for source in sources.split():
                assert (ROOT / source).exists(), source
