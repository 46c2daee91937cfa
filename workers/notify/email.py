"""Mail over SMTP, plain and HTML."""

from __future__ import annotations

import smtplib
from collections.abc import Mapping
from email.utils import parseaddr
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.utils.translation import gettext_noop

from drift.models import Delivery
from drift.said import said
from workers.notify.errors import TransportError
from workers.notify.plain import as_html, as_text

BACKEND = "django.core.mail.backends.smtp.EmailBackend"


def send(address: str, delivery: Delivery, message: Mapping[str, Any]) -> None:
    """Sends one mail. The Message-ID is the delivery's key, so that a repeat is recognised by the reader's program.

    A 5xx answer to recipient or data is permanent. A server that cannot be reached or does not let us in is not the
    channel's fault.
    """
    if not settings.EMAIL_HOST:
        raise TransportError(said(gettext_noop("No mail server is set: an administrator must set EMAIL_HOST.")))
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "tidegauge.invalid"
    headers = {
        "Message-ID": f"<{delivery.public_id}@{domain}>",
        "X-Tidegauge-Delivery": str(delivery.public_id),
        "Auto-Submitted": "auto-generated",
    }
    if delivery.incident is not None:
        thread = f"<incident-{delivery.incident.public_id}@{domain}>"
        headers |= {"References": thread, "In-Reply-To": thread}
    mail = EmailMultiAlternatives(
        message["subject"],
        as_text(message),
        settings.DEFAULT_FROM_EMAIL,
        [address],
        headers=headers,
        connection=get_connection(BACKEND, timeout=settings.EMAIL_TIMEOUT),
    )
    mail.attach_alternative(as_html(message), "text/html")
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        code, told = next(iter(error.recipients.values()), (0, b""))
        text = said(
            gettext_noop("The mail server refused {address}: {answer}"), address=address, answer=_said(code, told)
        )
        raise TransportError(text, permanent=_for_good(code)) from error
    except smtplib.SMTPDataError as error:
        text = said(
            gettext_noop("The mail server refused the message: {answer}"),
            answer=_said(error.smtp_code, error.smtp_error),
        )
        raise TransportError(text, permanent=_for_good(error.smtp_code)) from error
    except smtplib.SMTPResponseException as error:
        raise TransportError(
            said(gettext_noop("The mail server answered {answer}"), answer=_said(error.smtp_code, error.smtp_error))
        ) from error
    except (smtplib.SMTPException, OSError) as error:
        where = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
        raise TransportError(
            said(
                gettext_noop("The mail server {where} could not be used: {kind}: {error}"),
                where=where,
                kind=type(error).__name__,
                error=str(error),
            )
        ) from error


def _for_good(code: int) -> bool:
    return 500 <= code < 600


def _said(code: int, text: bytes | str) -> str:
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"{code} {words}".strip()[:300]
