from django.apps import AppConfig


class DriftConfig(AppConfig):
    """The domain: what is stored, what is measured, what follows from it."""

    name = "drift"
    verbose_name = "Drift"
