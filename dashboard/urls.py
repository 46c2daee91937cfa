"""The address of every page."""

from django.contrib.auth import views as auth
from django.urls import path

from dashboard.api.api import api
from dashboard.views import (
    about,
    canary,
    charts,
    compare,
    endpoint,
    endpoint_forms,
    health,
    inhouse,
    monitors,
    overview,
    sample,
    suites,
)

urlpatterns = [
    path("", overview.show, name="overview"),
    path("monitors/pause", monitors.pause_picked, name="monitors-pause"),
    path("endpoints/new", endpoint_forms.add, name="endpoint-add"),
    path("endpoints/<uuid:endpoint>/", endpoint.show, name="endpoint"),
    path("endpoints/<uuid:endpoint>/edit", endpoint_forms.edit, name="endpoint-edit"),
    path("endpoints/<uuid:endpoint>/check", endpoint_forms.check, name="endpoint-check"),
    path("endpoints/<uuid:endpoint>/archive", endpoint_forms.archive, name="endpoint-archive"),
    path("endpoints/<uuid:endpoint>/restore", endpoint_forms.restore, name="endpoint-restore"),
    path("endpoints/<uuid:endpoint>/monitor", monitors.add, name="monitor-add"),
    path("endpoints/<uuid:endpoint>/chart/<slug:chart>.<slug:form>", charts.show, name="chart"),
    path("endpoints/<uuid:endpoint>/canaries/<uuid:canary>/", canary.show, name="canary"),
    path("endpoints/<uuid:endpoint>/canaries/<uuid:canary>/pair", canary.pair, name="canary-pair"),
    path("monitors/<uuid:monitor>/edit", monitors.edit, name="monitor-edit"),
    path("monitors/<uuid:monitor>/pause", monitors.pause, name="monitor-pause"),
    path("monitors/<uuid:monitor>/resume", monitors.resume, name="monitor-resume"),
    path("monitors/<uuid:monitor>/run", monitors.run, name="monitor-run"),
    path("samples/<uuid:sample>/", sample.show, name="sample"),
    path("samples/<uuid:sample>/raw", sample.raw, name="sample-raw"),
    path("suites/", suites.index, name="suites"),
    path("suites/<uuid:suite>/", suites.show, name="suite"),
    path("compare/", compare.show, name="compare"),
    path("compare/divergence.<slug:form>", compare.chart, name="compare-chart"),
    path("in-house/", inhouse.show, name="inhouse"),
    path("in-house/<slug:chart>.<slug:form>", inhouse.chart, name="inhouse-chart"),
    path("about/", about.show, name="about"),
    path("login", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout", auth.LogoutView.as_view(), name="logout"),
    path("password", auth.PasswordChangeView.as_view(success_url="/"), name="password"),
    path("api/v1/", api.urls),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
]
