"""Sentences are kept as message and fillers, and read in the language of the reader; a channel speaks one."""

from django.db import migrations, models

import drift.said


class Migration(migrations.Migration):
    dependencies = [
        ("drift", "0005_trials_and_annotations"),
    ]

    operations = [
        migrations.AddField(
            model_name="channel",
            name="language",
            field=models.CharField(choices=[("en", "English"), ("zh-hans", "简体中文")], default="en", max_length=12),
        ),
        migrations.AlterField(
            model_name="baseline",
            name="reason",
            field=drift.said.SaidField(blank=True, default="", help_text="Why it no longer holds, in a sentence"),
        ),
        migrations.AlterField(
            model_name="capability",
            name="evidence",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="channel",
            name="disabled_why",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="channel",
            name="last_error",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="checkup",
            name="problem",
            field=drift.said.SaidField(blank=True, default="", help_text="Why it waits or ended so"),
        ),
        migrations.AlterField(
            model_name="checkupstage",
            name="note",
            field=drift.said.SaidField(blank=True, default="", help_text="Why less was asked than planned"),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="problem",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="deliveryattempt",
            name="detail",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="drill",
            name="progress",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="endpoint",
            name="rest_reason",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="endpointcheck",
            name="problem",
            field=drift.said.SaidField(default="", help_text="What is wrong and what to do, in a sentence"),
        ),
        migrations.AlterField(
            model_name="evalanswer",
            name="why",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="evalrun",
            name="problem",
            field=drift.said.SaidField(blank=True, default="", help_text="Why it waits, is paused or ended so"),
        ),
        migrations.AlterField(
            model_name="evalscore",
            name="why",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="event",
            name="text",
            field=drift.said.SaidField(),
        ),
        migrations.AlterField(
            model_name="incident",
            name="resolution",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="incident",
            name="title",
            field=drift.said.SaidField(),
        ),
        migrations.AlterField(
            model_name="monitor",
            name="paused_reason",
            field=drift.said.SaidField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="run",
            name="problem",
            field=drift.said.SaidField(blank=True, default=""),
        ),
    ]
