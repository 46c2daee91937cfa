"""Evals, check-ups, baselines, incidents, thresholds and drills leave lines in the audit log too.

What the service itself does to them all day (a run goes on, an incident opens) is in their own rows and the feed;
of these only what a person or a program did is noted.
"""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("drift.migrations.0003_audit").AUDIT
FUNCTION = BEFORE[: BEFORE.index("CREATE FUNCTION drift_audit_is_kept()")].replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
)

# The team and the name of rows that have none of their own.
FOUND_ELSEWHERE = """
    ELSIF TG_ARGV[0] = 'evalversion' THEN
        SELECT s.team_id, s.name || ' v' || (subject ->> 'number') INTO team, named FROM drift_evalset s
         WHERE s.id = (subject ->> 'eval_set_id')::bigint;
    ELSIF TG_ARGV[0] = 'evalrun' THEN
        SELECT s.team_id, COALESCE(NULLIF(subject ->> 'name', ''), s.name || ' v' || v.number) INTO team, named
          FROM drift_evalversion v JOIN drift_evalset s ON s.id = v.eval_set_id
         WHERE v.id = (subject ->> 'version_id')::bigint;
    ELSIF TG_ARGV[0] = 'baseline' THEN
        SELECT e.team_id, COALESCE(NULLIF(subject ->> 'name', ''), e.name) INTO team, named
          FROM drift_series s JOIN drift_endpoint e ON e.id = s.endpoint_id
         WHERE s.id = (subject ->> 'series_id')::bigint;
    ELSIF TG_ARGV[0] = 'incident' THEN
        named := subject ->> 'provider';
"""
MEMBERSHIP = "    ELSIF TG_ARGV[0] = 'membership' THEN"
AFTER = FUNCTION.replace(MEMBERSHIP, FOUND_ELSEWHERE.lstrip("\n") + MEMBERSHIP)
# A file's bytes must not be written out as text on their way to a line of the log.
FILES = (
    AFTER.replace("drift_audit()", "drift_audit_file()")
    .replace(
        "    before jsonb := CASE WHEN TG_OP = 'INSERT' THEN '{}'::jsonb ELSE to_jsonb(OLD) END;\n"
        "    after jsonb := CASE WHEN TG_OP = 'DELETE' THEN '{}'::jsonb ELSE to_jsonb(NEW) END;\n"
        "    subject jsonb := CASE WHEN TG_OP = 'DELETE' THEN before ELSE after END;\n",
        "    before jsonb := '{}'::jsonb;\n    after jsonb := '{}'::jsonb;\n    subject jsonb;\n",
    )
    .replace(
        "BEGIN\n",
        "BEGIN\n"
        "    IF TG_OP <> 'INSERT' THEN OLD.raw := ''; before := to_jsonb(OLD); END IF;\n"
        "    IF TG_OP <> 'DELETE' THEN NEW.raw := ''; after := to_jsonb(NEW); END IF;\n"
        "    subject := CASE WHEN TG_OP = 'DELETE' THEN before ELSE after END;\n",
        1,
    )
)

CLAIM = "claim,lease_until,attempts,not_before,published_at,started_at,finished_at,problem"
# {table: (columns that are not noted, whether the service's own steps are left out, whether it holds a file)}
AUDITED = {
    "evalset": ("", False, False),
    "evalversion": ("template,templates,graders", False, False),
    "evalrun": (f"{CLAIM},wanted,answered,graded,cost,tokens,only_cases", True, False),
    "evalupload": ("raw", False, True),
    "answerfile": (f"{CLAIM},raw,answers,answers_done,group", True, True),
    "checkup": (f"{CLAIM},wanted,answered,cost,tokens,questions,capabilities,report,group", True, False),
    "fitthresholds": ("updated_at,updated_by_id", False, False),
    "drill": ("lease_until,progress,finished_at,report,endpoint_id", True, False),
    "baseline": (
        "reference,normalised,first_tokens,prompt_tokens,identities,evidence,reason,runs_count,answers_count,divergence,divergence_low,divergence_high,"
        "first_divergence,wanted_runs,valid_at,invalidated_at,superseded_at",
        True,
        False,
    ),
    "incident": (
        "title,alerted_at,alerted_scope,reminded_at,last_finding_at,acknowledged_at,resolved_at,acknowledged_by_id,"
        "resolved_by_id",
        True,
        False,
    ),
}
BY_SOMEONE = "WHEN (COALESCE(current_setting('tidegauge.actor_name', true), '') <> '') "

TRIGGERS = "".join(
    f"CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON drift_{table} FOR EACH ROW "
    f"{BY_SOMEONE if by_someone else ''}"
    f"EXECUTE FUNCTION drift_audit{'_file' if file else ''}('{table}', '{unwatched}', '');\n"
    for table, (unwatched, by_someone, file) in AUDITED.items()
)
UNDO = (
    "".join(f"DROP TRIGGER audited ON drift_{table};\n" for table in AUDITED)
    + "DROP FUNCTION drift_audit_file();\n"
    + FUNCTION
)


class Migration(migrations.Migration):
    dependencies = [("drift", "0007_answer_files")]
    operations = [migrations.RunSQL(AFTER + FILES + TRIGGERS, UNDO)]
