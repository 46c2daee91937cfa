"""The web application for gunicorn."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
os.environ.setdefault("DATABASE_WAIT_SECONDS", "5")  # a page that waits longer holds a thread that others need
application = get_wsgi_application()
get_resolver().url_patterns  # noqa: B018  loads every page now: the first request of a process would wait for it
gc.collect()
gc.freeze()  # what is loaded by now stays: walking through it again and again took a tenth of a page's time
