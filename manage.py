#!/usr/bin/env python
"""Django's command line."""

import os
import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["evalreport"]:  # reads files only: it must work where no database is set up
        from django.conf import settings

        settings.configure(USE_I18N=False)
        from drift.evals.command import main

        raise SystemExit(main(sys.argv[2:]))
    if sys.argv[1:2] == ["verify-bundle"]:  # whoever checks evidence need not have an installation
        from drift.fit.verify_bundle import main

        raise SystemExit(main(sys.argv[2:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
