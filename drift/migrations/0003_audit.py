"""Every change of what people decide about leaves a line in the audit log, whichever road it came by.

What the service itself does all day to some of it (a run goes on, an incident opens) stands in those rows and the feed;
there only what a person or a program did is noted.
"""

from django.db import migrations

CLAIM = "claim,lease_until,attempts,not_before,published_at,started_at,finished_at,problem"
# Columns that the service itself moves all the time, and columns whose text must not be copied anywhere.
AUDITED = {
    "team": ("", ""),
    "membership": ("", ""),
    "invitation": ("", ""),
    "statuslink": ("", ""),
    "apitoken": ("last_used_at", "digest"),
    "endpoint": (
        "circuit,failures_in_a_row,rest_until,rest_reason,parameters,cap_parameter,api_key_hint",
        "api_key,extra_headers,ca_bundle",
    ),
    "canary": ("", ""),
    "suite": ("", ""),
    "monitor": ("next_due_at", ""),
    "channel": ("last_sent_at,last_error", "address,signing_secret"),
    "silence": ("", ""),
    "alertrules": ("", ""),
    "annotation": ("", ""),
    # what is saved of a draft is audited where it is saved
    "trial": ("state,problem,claim,lease_until,attempts,not_before,published_at,finished_at,draft", ""),
    "evalset": ("", ""),
    "evalversion": ("template,templates,graders", ""),
    "evalupload": ("raw", ""),
    "fitthresholds": ("updated_at,updated_by_id", ""),
}
# The same, of rows that the service moves too: only what somebody did is noted.
AUDITED_BY_SOMEONE = {
    "evalrun": (f"{CLAIM},wanted,answered,graded,cost,tokens,only_cases", ""),
    "answerfile": (f"{CLAIM},raw,answers,answers_done,group", ""),
    "checkup": (f"{CLAIM},wanted,answered,cost,tokens,questions,capabilities,report,group", ""),
    "drill": ("lease_until,progress,finished_at,report,endpoint_id", ""),
    "baseline": (
        "reference,normalised,first_tokens,prompt_tokens,identities,evidence,reason,runs_count,answers_count,"
        "divergence,divergence_low,divergence_high,first_divergence,wanted_runs,valid_at,invalidated_at,superseded_at",
        "",
    ),
    "incident": (
        "title,alerted_at,alerted_scope,reminded_at,last_finding_at,acknowledged_at,resolved_at,acknowledged_by_id,"
        "resolved_by_id",
        "",
    ),
}
BY_SOMEONE = "WHEN (COALESCE(current_setting('tidegauge.actor_name', true), '') <> '') "

AUDIT = """
CREATE FUNCTION drift_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    unwatched text[] := string_to_array(TG_ARGV[1], ',') || ARRAY['id', 'public_id', 'team_id', 'created_at'];
    secret text[] := string_to_array(TG_ARGV[2], ',');
    before jsonb := '{}';
    after jsonb := '{}';
    subject jsonb;
    changes jsonb;
    team bigint;
    named text;
BEGIN
    -- The bytes of a file must not be written out as text on their way here.
    IF TG_OP <> 'INSERT' THEN
        IF 'raw' = ANY (unwatched) THEN OLD.raw := ''; END IF;
        before := to_jsonb(OLD);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        IF 'raw' = ANY (unwatched) THEN NEW.raw := ''; END IF;
        after := to_jsonb(NEW);
    END IF;
    subject := CASE WHEN TG_OP = 'DELETE' THEN before ELSE after END;
    SELECT jsonb_object_agg(key, CASE WHEN key = ANY (secret) THEN '["hidden", "hidden"]'::jsonb
                                      ELSE jsonb_build_array(before -> key, after -> key) END)
      INTO changes
      FROM jsonb_object_keys(before || after) AS key
     WHERE (before -> key) IS DISTINCT FROM (after -> key) AND NOT key = ANY (unwatched)
       AND NOT (TG_OP <> 'UPDATE' AND key = ANY (secret));
    IF changes IS NULL AND TG_OP = 'UPDATE' THEN
        RETURN NULL;
    END IF;
    team := CASE WHEN TG_ARGV[0] = 'team' THEN (subject ->> 'id')::bigint ELSE (subject ->> 'team_id')::bigint END;
    named := COALESCE(subject ->> 'name', subject ->> 'email', '');
    IF TG_ARGV[0] = 'monitor' THEN
        SELECT e.team_id, e.name INTO team, named FROM drift_endpoint e
         WHERE e.id = (subject ->> 'endpoint_id')::bigint;
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
    ELSIF TG_ARGV[0] = 'membership' THEN
        SELECT u.username INTO named FROM drift_user u WHERE u.id = (subject ->> 'user_id')::bigint;
    END IF;
    INSERT INTO drift_auditentry (public_id, team_id, at, actor_id, actor_name, via, request_id, action, subject,
                                  subject_id, subject_name, changes)
    VALUES (gen_random_uuid(), team, clock_timestamp(),
            NULLIF(current_setting('tidegauge.actor', true), '')::bigint,
            COALESCE(current_setting('tidegauge.actor_name', true), ''),
            COALESCE(current_setting('tidegauge.via', true), ''),
            COALESCE(current_setting('tidegauge.request', true), ''),
            CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'UPDATE' THEN 'changed' ELSE 'deleted' END,
            TG_ARGV[0], COALESCE(subject ->> 'public_id', subject ->> 'id', ''), COALESCE(named, ''),
            COALESCE(changes, '{}'::jsonb));
    RETURN NULL;
END $$;

CREATE FUNCTION drift_audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('tidegauge.pruning', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is only added to' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON drift_auditentry FOR EACH ROW
    EXECUTE FUNCTION drift_audit_is_kept();
"""

TRIGGERS = "".join(
    f"CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON drift_{table} FOR EACH ROW "
    f"{BY_SOMEONE if table in AUDITED_BY_SOMEONE else ''}"
    f"EXECUTE FUNCTION drift_audit('{table}', '{unwatched}', '{secret}');\n"
    for table, (unwatched, secret) in {**AUDITED, **AUDITED_BY_SOMEONE}.items()
)
UNDO = (
    "".join(f"DROP TRIGGER audited ON drift_{table};\n" for table in (*AUDITED, *AUDITED_BY_SOMEONE))
    + """
DROP TRIGGER audit_is_kept ON drift_auditentry;
DROP FUNCTION drift_audit();
DROP FUNCTION drift_audit_is_kept();
"""
)


class Migration(migrations.Migration):
    dependencies = [("drift", "0002_partitions_and_triggers")]
    operations = [migrations.RunSQL(AUDIT + TRIGGERS, UNDO)]
