from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """What people and programs see."""

    name = "dashboard"
