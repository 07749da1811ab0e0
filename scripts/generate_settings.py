#!/usr/bin/env python3
"""Writes engine/setting/settings_postgres.inc: PostgreSQL 15's settings as a text table, from a running server.

    scripts/generate_settings.py "host=... port=... user=postgres"

Settings of the operating system, of replication and of the machine the rows are recorded on are left out."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUERY = r"""copy (
select name, vartype, coalesce(unit,'') as unit, context, coalesce(array_to_string(enumvals, ','),'') as enumvals,
       coalesce(min_val,'') as min, coalesce(max_val,'') as max,
       case name when 'TimeZone' then 'UTC' when 'log_timezone' then 'UTC' when 'log_filename' then 'ouzel-%Y-%m-%d_%H%M%S.log' when 'lc_messages' then 'C'
            when 'server_encoding' then 'UTF8' when 'client_encoding' then 'UTF8' when 'default_text_search_config' then 'pg_catalog.english'
            when 'transaction_isolation' then 'read committed' when 'search_path' then '"$user", public'
            when 'max_connections' then '1200' when 'server_version' then '15.13' when 'server_version_num' then '150013'
            when 'in_hot_standby' then 'off' when 'application_name' then '' when 'lc_collate' then 'C' when 'lc_ctype' then 'C'
            when 'DateStyle' then 'ISO, MDY' when 'is_superuser' then 'on' when 'session_authorization' then 'postgres'
            else coalesce(boot_val,'') end as value,
       category, short_desc
from pg_settings
where (name !~ '(_file|_directory|_directories|_command)$' or name = 'log_directory') and name !~ '^(ssl|krb|unix_|wal_|recovery_|primary_|hot_|archive|autovacuum|bgwriter|syslog|debug_(assertions|discard)|trace_|log_(autovacuum|executor|parser|planner|recovery|replication|startup|statement_stats)|checkpoint|max_wal|min_wal|vacuum_defer|jit_(debugging|profiling|provider)|shared_preload|event_source|db_user|bonjour|backtrace)'
order by name) to stdout"""


def main():
    text = subprocess.run(["psql", "-X", sys.argv[1], "-c", QUERY], check=True, capture_output=True, text=True).stdout
    header = "name vartype unit context enumvals min max value category short_desc".replace(" ", "\t")
    with open(os.path.join(ROOT, "engine/setting/settings_postgres.inc"), "w") as out:
        for line in [header] + text.splitlines():
            out.write('"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '\\n"\n')


if __name__ == "__main__":
    main()
