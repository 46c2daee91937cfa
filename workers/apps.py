from django.apps import AppConfig


class WorkersConfig(AppConfig):
    """Processes that act on the world."""

    name = "workers"
