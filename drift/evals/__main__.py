"""`python -m drift.evals FILE`: the same as `manage.py evalreport FILE`."""

from drift.evals.command import main

raise SystemExit(main())
