#!/usr/bin/env python3
"""Writes engine/setting/settings_postgres.inc: PostgreSQL 15's settings as a text table, from a running server.

    scripts/generate_settings.py "host=... port=... user=postgres"

What depends on the machine that the rows are recorded on gets the value that Ouzel has: no replication, no archive, no sockets
in the file system. A role of its own finds out which settings only superusers may see."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VALUES = {
    "TimeZone": "UTC", "log_timezone": "UTC", "log_filename": "ouzel-%Y-%m-%d_%H%M%S.log", "lc_messages": "C", "server_encoding": "UTF8",
    "client_encoding": "UTF8", "default_text_search_config": "pg_catalog.english", "transaction_isolation": "read committed",
    "search_path": '"$user", public', "max_connections": "1200", "max_prepared_transactions": "64", "server_version": "15.13", "server_version_num": "150013",
    "in_hot_standby": "off", "application_name": "", "lc_collate": "C", "lc_ctype": "C", "DateStyle": "ISO, MDY", "is_superuser": "on",
    "session_authorization": "postgres", "wal_level": "minimal", "max_wal_senders": "0", "unix_socket_directories": "",
    "config_file": "", "hba_file": "", "ident_file": "", "data_directory": "", "data_directory_mode": "448", "ssl_library": "OpenSSL",
    "ssl_cert_file": "", "ssl_key_file": "", "krb_server_keyfile": "", "shared_preload_libraries": "", "jit_provider": "",
    "syslog_ident": "ouzel",
}
QUERY = r"""
begin;
create role settings_reader;
create temp table seen_by_all (name text);
grant all on seen_by_all to settings_reader;
set local role settings_reader;
insert into seen_by_all select name from pg_settings;
reset role;
copy (
select name, vartype, coalesce(unit,'') as unit, context, coalesce(array_to_string(enumvals, ','),'') as enumvals,
       coalesce(min_val,'') as min, coalesce(max_val,'') as max, coalesce(VALUES::jsonb ->> name, boot_val, '') as value,
       category, short_desc, coalesce(extra_desc, '') as extra_desc, array_to_string(pg_settings_get_flags(name), ',') as flags,
       name not in (select name from seen_by_all) as privileged
from pg_settings where name not in ('extension_destdir', 'output_plugin_libraries') -- of a distribution
order by name) to stdout;
rollback;
"""


def main():
    query = QUERY.replace("VALUES", "'" + json.dumps(VALUES) + "'")
    text = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", sys.argv[1]], input=query, check=True, capture_output=True, text=True).stdout
    header = "name vartype unit context enumvals min max value category short_desc extra_desc flags privileged".replace(" ", "\t")
    with open(os.path.join(ROOT, "engine/setting/settings_postgres.inc"), "w") as out:
        for line in [header] + text.splitlines():
            out.write('"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '\\n"\n')


if __name__ == "__main__":
    main()
