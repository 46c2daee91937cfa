"""What the model language cannot say: samples by month, what refuses changes, the table of the shared cache."""

from django.db import migrations

PARTITION_SAMPLES = """
ALTER TABLE drift_sample RENAME TO drift_sample_plain;
CREATE TABLE drift_sample (LIKE drift_sample_plain INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
    PARTITION BY RANGE (scheduled_for);
DROP TABLE drift_sample_plain;
ALTER TABLE drift_sample
    ADD CONSTRAINT drift_sample_pkey PRIMARY KEY (scheduled_for, run_id, canary_id, repeat),
    ADD CONSTRAINT drift_sample_run_fk FOREIGN KEY (run_id) REFERENCES drift_run (id) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT drift_sample_canary_fk FOREIGN KEY (canary_id) REFERENCES drift_canary (id)
        DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT drift_sample_series_fk FOREIGN KEY (series_id) REFERENCES drift_series (id)
        DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT drift_sample_identity_fk FOREIGN KEY (identity_id) REFERENCES drift_identity (id)
        DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT drift_sample_output_fk FOREIGN KEY (output_id) REFERENCES drift_output (id)
        DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX sample_public_id ON drift_sample (public_id);
CREATE INDEX sample_by_canary ON drift_sample (series_id, canary_id, scheduled_for DESC);
CREATE INDEX sample_by_output ON drift_sample (output_id);
CREATE INDEX sample_by_run ON drift_sample (run_id);
"""

REFUSE_CHANGES = """
CREATE FUNCTION drift_refuse_canary_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'canary % is fixed: supersede it instead of editing it', OLD.id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER canary_is_fixed BEFORE UPDATE ON drift_canary FOR EACH ROW
    WHEN (OLD.messages IS DISTINCT FROM NEW.messages OR OLD.max_tokens IS DISTINCT FROM NEW.max_tokens
          OR OLD.team_id IS DISTINCT FROM NEW.team_id)
    EXECUTE FUNCTION drift_refuse_canary_change();

CREATE FUNCTION drift_refuse_suite_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM drift_series WHERE suite_id = NEW.suite_id) THEN
        RAISE EXCEPTION 'suite % has been measured: make its next version instead', NEW.suite_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER used_suite_is_fixed BEFORE INSERT OR UPDATE ON drift_suitecanary FOR EACH ROW
    EXECUTE FUNCTION drift_refuse_suite_change();
"""

CACHE = """
CREATE UNLOGGED TABLE drift_cache (
    cache_key varchar(255) PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL
);
CREATE INDEX drift_cache_expires ON drift_cache (expires);
"""


class Migration(migrations.Migration):
    dependencies = [("drift", "0001_initial")]
    operations = [
        migrations.RunSQL(PARTITION_SAMPLES, migrations.RunSQL.noop),
        migrations.RunSQL(
            REFUSE_CHANGES,
            """
            DROP TRIGGER canary_is_fixed ON drift_canary;
            DROP FUNCTION drift_refuse_canary_change();
            DROP TRIGGER used_suite_is_fixed ON drift_suitecanary;
            DROP FUNCTION drift_refuse_suite_change();
            """,
        ),
        migrations.RunSQL(CACHE, "DROP TABLE drift_cache"),
    ]
