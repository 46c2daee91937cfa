"""The addresses of the eval pages. `kind` is runs or uploads: a report reads the same whatever it is made of."""

from django.urls import path

from dashboard.views.evals import answers, importing, listing, reports, running, sets, uploads

urlpatterns = [
    path("", listing.index, name="evals"),
    path("new", importing.bring, name="eval-new"),
    path("imports/<uuid:upload>/", importing.preview, name="eval-import"),
    path("sets/<uuid:version>/", sets.show, name="eval-version"),
    path("sets/<uuid:version>/cases.jsonl", sets.export, name="eval-version-export"),
    path("sets/<uuid:version>/archive", sets.archive, name="eval-archive"),
    path("sets/<uuid:version>/restore", sets.restore, name="eval-restore"),
    path("sets/<uuid:version>/run", running.begin, name="eval-run-new"),
    path("runs/<uuid:run>/", running.show, name="eval-run"),
    path("runs/<uuid:run>/pause", running.pause, name="eval-pause"),
    path("runs/<uuid:run>/resume", running.resume, name="eval-resume"),
    path("runs/<uuid:run>/stop", running.stop, name="eval-stop"),
    path("runs/<uuid:run>/deepen", running.deepen, name="eval-deepen"),
    path("runs/<uuid:run>/raw.jsonl", running.raw, name="eval-raw"),
    path("answers/<uuid:answer>/", answers.show, name="eval-answer"),
    path("upload", uploads.bring, name="eval-upload-new"),
    path("uploads/<uuid:upload>/", uploads.show, name="eval-upload"),
    path("uploads/<uuid:upload>/columns", uploads.columns, name="eval-columns"),
    path("<slug:kind>/<uuid:source>/arms/<int:arm>/", reports.arm, name="eval-arm"),
    path("<slug:kind>/<uuid:source>/compare", reports.versus, name="eval-compare"),
    path("<slug:kind>/<uuid:source>/<slug:table>.csv", reports.table, name="eval-csv"),
    path("<slug:kind>/<uuid:source>/report.html", reports.page, name="eval-page"),
]
