"""Django settings. Everything that differs between machines comes from the environment (`drift.environment`)."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from drift import environment
from drift.login_settings import *  # noqa: F403  how people sign in has a file of its own

BASE_DIR = environment.ROOT
DEBUG = False
SECRET_KEY = environment.text("SECRET_KEY")
FIELD_ENCRYPTION_KEYS = environment.words("FIELD_ENCRYPTION_KEYS")
if not FIELD_ENCRYPTION_KEYS:
    raise ImproperlyConfigured("FIELD_ENCRYPTION_KEYS is empty: set at least one Fernet key (newest first).")

ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", "127.0.0.1,localhost")
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS")
HTTPS = environment.switch("HTTPS", False)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "csp",
    "drift",
    "workers",
    "dashboard",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # tokens of forms are masked anew each time, so lengths tell nothing
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "dashboard.languages.LanguageMiddleware",
    "dashboard.timezones.TimeZoneMiddleware",
    "dashboard.acting.RequestMiddleware",
    "dashboard.api.idempotency.ApiMiddleware",
]
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.context.page",
            ]
        },
    }
]


DATABASE_WAIT_S = environment.number("DATABASE_WAIT_SECONDS", 20)


def database_from_url(url: str) -> dict[str, Any]:
    """`postgresql://user:password@host:port/name`; a `host=` in the query names a socket directory."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"DATABASE_URL must begin with postgresql://, not {parts.scheme!r}")
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "tidegauge",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", parts.hostname or ""),
        "PORT": query.pop("port", str(parts.port or "")),
        "OPTIONS": {"pool": {"min_size": 1, "max_size": 8, "timeout": DATABASE_WAIT_S}, **query},
    }


DATABASES = {"default": database_from_url(environment.text("DATABASE_URL"))}
# Counts of failed log-ins: shared by all web processes, and gone with nothing else when emptied.
CACHES = {"default": {"BACKEND": "drift.json_cache.JsonCache"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "drift.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "drift" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "dashboard.plotly_bundle.PlotlyFinder",
]

# Strict: scripts, styles and images from here alone, nothing inline but the style attributes plotly sets by script.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if environment.switch("BEHIND_PROXY", False) else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Networks and hosts that an endpoint's address may resolve to although they are not public. Administrators only.
ALLOW_PRIVATE_TARGETS = environment.words("ALLOW_PRIVATE_TARGETS")

# Where people reach the pages: links in messages begin with it.
SITE_URL = environment.text("SITE_URL", "http://127.0.0.1:8000").rstrip("/")

# Mail. Without EMAIL_HOST no e-mail is sent, and channels say so.
EMAIL_HOST = environment.text("EMAIL_HOST", "")
EMAIL_PORT = environment.number("EMAIL_PORT", 587)
EMAIL_HOST_USER = environment.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = environment.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = environment.switch("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = environment.switch("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = SERVER_EMAIL = environment.text("EMAIL_FROM", "Tidegauge <tidegauge@localhost>")

AUDIT_DAYS = environment.number("AUDIT_DAYS", 730)
# Lets a Prometheus read the metrics of every team; without it each team's own tokens do for that team.
METRICS_TOKEN = environment.text("METRICS_TOKEN", "")

REDIS_URL = environment.text("REDIS_URL")
TICK_SECONDS = environment.number("TICK_SECONDS", 5)
# A worker renews its claim on a run well within this; a dead worker's run is taken over after it.
RUN_LEASE_SECONDS = environment.number("RUN_LEASE_SECONDS", 90)
# An id handed to the broker that no worker took within this goes out again.
REPUBLISH_SECONDS = environment.number("REPUBLISH_SECONDS", 60)
# A message whose notifier is gone is taken over after this; beyond the deadline of any transport.
DELIVERY_LEASE_SECONDS = environment.number("DELIVERY_LEASE_SECONDS", 90)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "drift.logs.Line"}, "json": {"()": "drift.logs.JsonLine"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "json" if environment.switch("LOG_JSON", False) else "line",
        }
    },
    "root": {"handlers": ["stderr"], "level": environment.text("LOG_LEVEL", "INFO")},
    "loggers": {"httpx2": {"level": "WARNING"}, "openai": {"level": "WARNING"}},
}
