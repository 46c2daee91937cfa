"""`python -m drift.evals FILE`: the same as `manage.py evalreport FILE`."""

from django.conf import settings

settings.configure(USE_I18N=False)

from drift.evals.command import main  # noqa: E402  its words need to know that there are no translations

raise SystemExit(main())
