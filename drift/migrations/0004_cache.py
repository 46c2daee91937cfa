"""The table of the shared cache."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("drift", "0003_audit")]
    operations = [
        migrations.RunSQL(
            "CREATE UNLOGGED TABLE drift_cache (cache_key varchar(255) PRIMARY KEY, value text NOT NULL, "
            "expires timestamptz NOT NULL); CREATE INDEX drift_cache_expires ON drift_cache (expires)",
            "DROP TABLE drift_cache",
        )
    ]
