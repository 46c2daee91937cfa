"""The Celery application. The broker carries ids only; the truth is in PostgreSQL: a flushed Redis loses nothing."""

from __future__ import annotations

import gc
import os

from celery import Celery
from celery.signals import worker_process_init
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")  # they load every page; `migrate` has run them

import django

django.setup()

from django.conf import settings  # noqa: E402  needs the set-up above

app = Celery("tidegauge", include=["workers.tasks"])
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": 3600,  # beyond any time limit below: a slow run is never handed out twice by the broker
        "socket_timeout": 30,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 25,
        "global_keyprefix": "tidegauge:",
    },
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_acks_late=True,
    task_reject_on_worker_lost=False,  # the reaper puts a lost run back, with a count
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_cancel_long_running_tasks_on_connection_loss=True,
    worker_max_tasks_per_child=500,
    task_time_limit=1800,
    timezone="UTC",
    task_default_queue="probe",
    task_queues=[Queue("schedule"), Queue("probe"), Queue("notify")],
    task_routes={"workers.tasks.tick": {"queue": "schedule"}, "workers.tasks.notify": {"queue": "notify"}},
    beat_schedule={
        "tick": {
            "task": "workers.tasks.tick",
            "schedule": float(settings.TICK_SECONDS),
            "options": {"expires": max(1, settings.TICK_SECONDS - 1)},
        }
    },
    beat_schedule_filename=os.environ.get("BEAT_SCHEDULE_FILE", "celerybeat-schedule"),
)


@worker_process_init.connect
def collect_less_often(**_: object) -> None:
    """A run keeps its answers until it is stored; looking through them for cycles again and again finds none."""
    gc.set_threshold(20_000, 10, 10)
