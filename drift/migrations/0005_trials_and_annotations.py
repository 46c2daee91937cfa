"""Requests outside of every series, and what people mark on the charts; both leave lines in the audit log."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# The worker's own columns move all the time; what is saved of a draft is audited where it is saved.
UNWATCHED = "state,problem,claim,lease_until,attempts,not_before,published_at,finished_at,draft"
AUDIT = (
    "CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON drift_trial FOR EACH ROW "
    f"EXECUTE FUNCTION drift_audit('trial', '{UNWATCHED}', '');\n"
    "CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON drift_annotation FOR EACH ROW "
    "EXECUTE FUNCTION drift_audit('annotation', '', '');\n"
)
UNDO = "DROP TRIGGER audited ON drift_trial;\nDROP TRIGGER audited ON drift_annotation;\n"


class Migration(migrations.Migration):
    dependencies = [
        ("drift", "0004_cache"),
    ]

    operations = [
        migrations.AlterField(
            model_name="event",
            name="kind",
            field=models.CharField(
                choices=[
                    ("finding", "Found"),
                    ("opened", "Incident opened"),
                    ("joined", "Joined an incident"),
                    ("acknowledged", "Acknowledged"),
                    ("reopened", "Opened again"),
                    ("resolved", "Resolved"),
                    ("note", "Note"),
                    ("marked", "Marked on the charts"),
                    ("unmarked", "Mark taken off the charts"),
                    ("alerted", "Alert written"),
                    ("reminded", "Reminder written"),
                    ("baseline", "Baseline"),
                    ("silence", "Silence"),
                    ("channel", "Channel"),
                    ("drill", "Fire drill"),
                ],
                max_length=12,
            ),
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("kind", models.CharField(choices=[("replay", "Replay"), ("dry_run", "Dry run")], max_length=8)),
                ("name", models.CharField(help_text="The canary's or the suite's", max_length=200)),
                ("sample", models.UUIDField(help_text="The answer that is replayed, by its public id", null=True)),
                (
                    "draft",
                    models.JSONField(default=dict, help_text="What would be saved: {name, retention_days, canaries}"),
                ),
                ("requested_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("due", "Waiting"),
                            ("running", "Asking"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                        ],
                        default="due",
                        max_length=8,
                    ),
                ),
                ("problem", models.TextField(blank=True, default="", help_text="Why it waits or failed")),
                ("claim", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("not_before", models.DateTimeField(null=True)),
                ("published_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "canary",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="drift.canary"
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="drift.endpoint"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        help_text="Replayed from",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="drift.series",
                    ),
                ),
                (
                    "suite",
                    models.ForeignKey(
                        help_text="To be changed",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="drift.suite",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="drift.team"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TrialAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("position", models.PositiveSmallIntegerField()),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                ("former", models.BooleanField(default=False)),
                ("name", models.CharField(max_length=80)),
                (
                    "messages",
                    models.JSONField(help_text="A draft's; a replay repeats the bytes of `request`", null=True),
                ),
                ("max_tokens", models.PositiveIntegerField(null=True)),
                ("request", models.BinaryField(null=True)),
                ("started_at", models.DateTimeField(help_text="null: not asked yet", null=True)),
                ("latency_ms", models.FloatField(null=True)),
                ("http_status", models.PositiveSmallIntegerField(null=True)),
                ("transport_error", models.CharField(blank=True, default="", max_length=20)),
                ("headers", models.JSONField(default=dict)),
                ("raw", models.BinaryField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("text", "text"),
                            ("tool_calls", "tool_calls"),
                            ("empty", "empty"),
                            ("reasoning_only", "reasoning_only"),
                            ("filtered", "filtered"),
                            ("cached", "cached"),
                            ("fallback", "fallback"),
                            ("failed", "failed"),
                            ("truncated_stream", "truncated_stream"),
                            ("error_body", "error_body"),
                            ("empty_body", "empty_body"),
                            ("not_json", "not_json"),
                            ("unreadable", "unreadable"),
                            ("bad_encoding", "bad_encoding"),
                            ("too_large", "too_large"),
                            ("throttled", "throttled"),
                            ("http_error", "http_error"),
                            ("timeout", "timeout"),
                            ("unreachable", "unreachable"),
                            ("refused_address", "refused_address"),
                        ],
                        default="",
                        max_length=20,
                    ),
                ),
                ("error_message", models.TextField(blank=True, default="")),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("cost", models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ("decoded", models.BinaryField(help_text="As drift.checkup.packed writes it", null=True)),
                (
                    "trial",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="drift.trial"
                    ),
                ),
            ],
            options={
                "verbose_name": "answer",
                "ordering": ["position", "repeat", "-former"],
            },
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("at", models.DateTimeField()),
                ("text", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="annotations",
                        to="drift.endpoint",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="annotations", to="drift.team"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["team", "at"], name="annotation_by_time")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("text", ""), _negated=True), name="annotation_says_something"
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="trial",
            index=models.Index(
                condition=models.Q(("state__in", ["due", "running"])), fields=["requested_at"], name="trial_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "replay"), ("sample__isnull", False), ("series__isnull", False)),
                    models.Q(("kind", "dry_run"), ("sample__isnull", True), ("series__isnull", True)),
                    _connector="OR",
                ),
                name="trial_replays_a_sample_or_tries_a_draft",
            ),
        ),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "running"), _negated=True),
                    models.Q(("claim__isnull", False), ("lease_until__isnull", False)),
                    _connector="OR",
                ),
                name="running_trial_is_claimed",
            ),
        ),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["finished", "failed"]), _negated=True),
                    ("finished_at__isnull", False),
                    _connector="OR",
                ),
                name="ended_trial_has_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["due", "running"])),
                fields=("sample",),
                name="one_open_replay_per_sample",
            ),
        ),
        migrations.AddConstraint(
            model_name="trialanswer",
            constraint=models.UniqueConstraint(
                fields=("trial", "position", "repeat", "former"), name="trial_answer_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="trialanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(("request__isnull", False), ("messages__isnull", False), _connector="OR"),
                name="trial_answer_has_a_request",
            ),
        ),
        migrations.AddConstraint(
            model_name="trialanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(("decoded__isnull", True), ("started_at__isnull", False), _connector="OR"),
                name="trial_answer_read_was_asked",
            ),
        ),
        migrations.RunSQL(AUDIT, UNDO),
    ]
