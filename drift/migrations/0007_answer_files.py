"""Large files of recorded answers wait in a table until a worker has read them."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import drift.said


class Migration(migrations.Migration):
    dependencies = [
        ("drift", "0006_said_in_languages"),
    ]

    operations = [
        migrations.CreateModel(
            name="AnswerFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("raw", models.BinaryField(help_text="Empty once it is over")),
                ("group", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("due", "Waiting"),
                            ("running", "Reading"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                        ],
                        default="due",
                        max_length=8,
                    ),
                ),
                (
                    "problem",
                    drift.said.SaidField(
                        blank=True, default="", help_text="Why it waits or failed; a mistake with its line"
                    ),
                ),
                ("claim", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("published_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("answers", models.PositiveIntegerField(default=0, help_text="In all; 0: not read yet")),
                ("answers_done", models.PositiveIntegerField(default=0)),
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
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="answer_files", to="drift.team"
                    ),
                ),
            ],
            options={
                "verbose_name": "answer file",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["due", "running"])),
                        fields=["created_at"],
                        name="answer_file_open",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "running"), _negated=True),
                            models.Q(("claim__isnull", False), ("lease_until__isnull", False)),
                            _connector="OR",
                        ),
                        name="running_answer_file_is_claimed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["finished", "failed"]), _negated=True),
                            ("finished_at__isnull", False),
                            _connector="OR",
                        ),
                        name="ended_answer_file_has_a_time",
                    ),
                ],
            },
        ),
    ]
