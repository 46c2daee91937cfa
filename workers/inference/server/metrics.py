"""GET /metrics in Prometheus' text format."""

from __future__ import annotations

from workers.inference.server.service import Service


def metrics(service: Service) -> str:
    """Counters and gauges of the worker."""
    engine = service.loop.engine
    counters = engine.counters
    lines: list[str] = []

    def metric(name: str, kind: str, about: str, value: float, labels: str = "") -> None:
        lines.extend([f"# HELP tidegauge_worker_{name} {about}", f"# TYPE tidegauge_worker_{name} {kind}"])
        lines.append(f"tidegauge_worker_{name}{labels} {value:g}")

    metric("steps_total", "counter", "Engine steps.", counters.steps)
    metric("prompt_tokens_total", "counter", "Prompt tokens computed.", counters.prompt_tokens)
    metric("cached_prompt_tokens_total", "counter", "Prompt tokens found in the prefix cache.", counters.cached_tokens)
    metric("generated_tokens_total", "counter", "Tokens generated.", counters.generated_tokens)
    metric("sequences_finished_total", "counter", "Sequences that came to their end.", counters.finished)
    metric("sequences_cancelled_total", "counter", "Sequences whose client left.", counters.cancelled)
    metric("preemptions_total", "counter", "Sequences sent back to wait for pages.", engine.scheduler.preemptions)
    metric("sequences_running", "gauge", "Sequences in the batch.", service.loop.running)
    metric("sequences_waiting", "gauge", "Sequences waiting for a place.", service.loop.waiting)
    metric("pages_free", "gauge", "Key-value pages nobody owns.", engine.blocks.free_pages)
    metric("pages_total", "gauge", "Key-value pages.", engine.blocks.capacity)
    lines.append("# HELP tidegauge_worker_requests_total Requests by path and status.")
    lines.append("# TYPE tidegauge_worker_requests_total counter")
    for (path, status), count in sorted(service.statuses.items()):
        lines.append(f'tidegauge_worker_requests_total{{path="{path}",status="{status}"}} {count}')
    return "\n".join(lines) + "\n"
