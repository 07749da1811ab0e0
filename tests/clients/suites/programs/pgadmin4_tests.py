"""pgAdmin's web application without its window: the scenarios of SQL that its package brings (objects made, altered, dropped, and the
statements that it shows for them), its tree walked over a database with objects of every kind (properties, statements, statistics,
dependencies), its dashboard and tools. Prints for each test a line of JSON: its name and what it has seen, which suite.py compares
between servers."""
import builtins
import glob
import importlib.util
import json
import logging
import os
import re
import shutil
import sys
import tempfile
import time
import urllib.parse

import psycopg

uri = sys.argv[1]
only = sys.argv[2] if len(sys.argv) > 2 else ""
place = psycopg.conninfo.conninfo_to_dict(uri)
home = tempfile.mkdtemp(prefix="pgadmin-")
root = list(importlib.util.find_spec("pgadmin4").submodule_search_locations)[0]
sys.path.insert(0, root)
os.chdir(root)
os.environ["HOME"] = home
builtins.SERVER_MODE = False
sys.stdout = sys.stderr  # for what the application prints

import config  # noqa: E402

for key, value in {"SERVER_MODE": False, "DATA_DIR": home, "LOG_FILE": home + "/log", "SQLITE_PATH": home + "/pgadmin.db", "SESSION_DB_PATH": home + "/sessions", "STORAGE_DIR": home + "/storage",
                   "AZURE_CREDENTIAL_CACHE_DIR": home + "/azure", "KERBEROS_CCACHE_DIR": home + "/kerberos", "MASTER_PASSWORD_REQUIRED": False, "UPGRADE_CHECK_ENABLED": False,
                   "USE_OS_SECRET_STORAGE": False, "KEYRING_NAME": "", "CONSOLE_LOG_LEVEL": logging.CRITICAL, "FILE_LOG_LEVEL": logging.CRITICAL, "WTF_CSRF_ENABLED": False}.items():
    setattr(config, key, value)

from pgadmin import create_app  # noqa: E402

app = create_app()
app.config.update(WTF_CSRF_ENABLED=False, TESTING=True)
app.PGADMIN_INT_KEY, app.PGADMIN_RUNTIME = "", True
with app.app_context():
    app.run_before_app_start()
client = app.test_client()


def told(name, action):
    """Runs a test, unless others are asked for."""
    if only and only not in name:
        return
    try:
        line = {"name": name, "value": action()}
    except LookupError as wrong:
        if "Unimplemented" in str(wrong):
            return  # the kind of node has no such thing
        line = {"name": name, "error": f"{type(wrong).__name__}: {wrong}"}
    except Exception as wrong:  # noqa: BLE001: any failure is one
        if "did not return a valid response" in str(wrong):
            return  # what pgAdmin itself does not answer
        line = {"name": name, "error": f"{type(wrong).__name__}: {wrong}"[:1500]}

    print(json.dumps(line), file=sys.__stdout__, flush=True)


def asked(method, url, data=None, **options):
    """What the application answers."""
    answer = client.open(url, method=method, data=None if data is None else json.dumps(data), content_type="application/json", **options)
    try:
        return answer.status_code, json.loads(answer.data)
    except ValueError:
        return answer.status_code, answer.data.decode("utf8", "replace")[:300]


def found(method, url, data=None):
    status, answer = asked(method, url, data)
    if status == 406 and "Unimplemented" in str(answer):
        raise LookupError(str(answer))
    if status != 200 or (isinstance(answer, dict) and answer.get("success") == 0):
        raise RuntimeError(f"{status}: {answer.get('errormsg') if isinstance(answer, dict) else answer}")
    return answer


# pg_attver is a mark that late releases of PostgreSQL 15 keep in the options of each column. Estimates depend on what has been analyzed.
ATTVER = re.compile(r"\n*ALTER (FOREIGN )?TABLE IF EXISTS [^\n]*\n +ALTER COLUMN [^\n]*\n +SET \(pg_attver=\d+\);")
ATTVER_AMONG = re.compile(r"pg_attver=\d+, |, pg_attver=\d+")
LEFT_OUT = {"icon", "_id", "id", "_pid", "module", "inode", "can_delete", "_type", "hastoasttable", "reltuples", "rows_cnt", "pid", "recorded_time", "xmin"}
# The condition of a trigger as a value of pg_node_tree, whose form PostgreSQL documents as internal to the server.
PRESENCE_ONLY = {"tgqual"}


def plain(value):
    """Without what differs from server to server: OIDs, sizes and other large numbers, and the order of objects in a list."""
    if isinstance(value, dict):
        return {key: bool(one) if key in PRESENCE_ONLY else plain(one) or None if key == "attoptions" else plain(one)
                for key, one in value.items() if key not in LEFT_OUT}
    if isinstance(value, list):
        marked = [one for one in value if not (isinstance(one, dict) and one.get("name") == "pg_attver")]
        if value and not marked:
            return None
        one_by_one = [plain(one) for one in marked]
        return sorted(one_by_one, key=lambda one: json.dumps(one, sort_keys=True)) if one_by_one and isinstance(one_by_one[0], (dict, list)) else one_by_one
    if isinstance(value, str):
        return re.sub(r"\n\s*\n+", "\n", re.sub(r"(?<=PID )\d+|\b(9\d{3}|\d{5,})\b", "N", ATTVER_AMONG.sub("", ATTVER.sub("", value)))).strip()
    return "N" if isinstance(value, int) and value >= 9000 else value


def columns_of(value):
    """Of statistics, what they are called: their values depend on what a server has done."""
    if isinstance(value, dict) and "columns" in value:
        return [[one.get("name"), one.get("type_code"), one.get("display_name")] for one in value["columns"]] + [len(value.get("rows", []))]
    return plain(value)


# The server and its databases

status, answer = asked("POST", "/browser/server/obj/1/", {"name": "suite", "host": place["host"], "port": int(place["port"]), "db": "postgres", "username": place["user"], "password": "x", "save_password": 0,
                                                          "connect_now": True, "connection_params": {"sslmode": "prefer", "connect_timeout": 10}, "sslmode": "prefer", "comment": ""})
if status != 200:
    raise SystemExit(f"pgAdmin does not connect: {answer}")
sid = int(answer["node"]["_id"])
superuser = place["user"]


def database_of(name):
    with psycopg.connect(uri) as admin:
        oid = admin.execute("SELECT oid FROM pg_database WHERE datname = %s", (name,)).fetchone()[0]
    asked("POST", f"/browser/database/connect/1/{sid}/{oid}", {})
    return oid


def sql(text, *parameters):
    with psycopg.connect(uri, autocommit=True) as admin:
        admin.execute("SET client_min_messages = warning")
        cursor = admin.execute(text, parameters or None)
        return cursor.fetchall() if cursor.description else None


def url_of(endpoint, options, object_id=None):
    """Of pgAdmin's address for a kind of node: an argument that no parent gives is the object itself."""
    rules = sorted(app.url_map.iter_rules(endpoint), key=lambda rule: len(rule.arguments))
    rule = rules[-1]
    values = {"gid": 1, "sid": sid}
    for argument in rule.arguments - {"gid", "sid"}:
        values[argument] = options[argument] if argument in options else object_id
    with app.test_request_context():
        from flask import url_for
        return url_for(rule.endpoint, **{argument: values[argument] for argument in rule.arguments})


# pgAdmin's own scenarios

class Scenarios:
    """A file of them, which is for one kind of object: each goes on where the one before has ended."""

    def __init__(self, file, did):
        self.file, self.did = file, did
        self.label = re.sub(r".*/servers/|/tests/.*", "", file) + "/" + os.path.basename(file).removesuffix(".json")
        self.parents, self.objects, self.object_id, self.schema_id = {}, {}, None, None

    def options(self, endpoint):
        given = {"did": self.did, **self.parents}
        if "NODE-schema" not in endpoint:
            given["scid"] = self.schema_id
        if "NODE-database" in endpoint:
            given["did"] = self.object_id
        return given

    def filled(self, data):
        if isinstance(data, dict):
            return {key: self.filled(one) for key, one in data.items()}
        if isinstance(data, list):
            return [self.filled(one) for one in data]
        if isinstance(data, str):
            data = data.replace("<OWNER>", superuser).replace("<TEST_DB_NAME>", place["dbname"]).replace("<SCHEMA_ID>", str(self.schema_id))
            if data.startswith("<") and data.endswith(">"):
                return self.objects.get(data[1:-1], data)
        return data

    def run(self, scenario):
        kind, data = scenario.get("type"), scenario.get("data", {})
        if kind == "create" and isinstance(data, dict):
            schema = data.get("schema") if isinstance(data.get("schema"), str) and not data["schema"].startswith("<") else "testschema"
            sql(psycopg.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(psycopg.sql.Identifier(schema)).as_string())
            self.schema_id = sql("SELECT oid FROM pg_namespace WHERE nspname = %s", schema)[0][0]
        if kind == "create":
            self.object_id = None  # if that fails, the next ones must not change another object
        elif "TEST_DB_NAME" in scenario:
            self.object_id = self.did
        data = self.filled(data)
        if isinstance(data, dict) and scenario.get("data", {}).get("schema_id") == "<SCHEMA_ID>":
            data["schema"] = self.schema_id
        for text in scenario.get("pre_scenario_sql") and [scenario["pre_scenario_sql"]] or []:
            sql(self.filled(text))
        seen = {}
        if scenario.get("msql_endpoint"):
            words = urllib.parse.urlencode({key: json.dumps(one) if isinstance(one, (dict, list)) else one for key, one in data.items()}).replace("False", "false").replace("True", "true")
            seen["msql"] = plain(found("GET", url_of(scenario["msql_endpoint"], self.options(scenario["msql_endpoint"]), self.object_id) + "?" + words))["data"]
        url = url_of(scenario["endpoint"], self.options(scenario["endpoint"]), self.object_id) if kind != "create" else url_of(scenario["endpoint"], self.options(scenario["endpoint"]))
        if kind == "delete":
            named = self.objects.get(data.get("name"))
            if named and "NODE-table." in scenario["endpoint"]:
                url = url_of(scenario["endpoint"], {"did": self.did, "scid": self.schema_id}, named)
            found("DELETE", url, data if "ids" in data else None)
        elif kind in ("create", "alter"):
            node = found("POST" if kind == "create" else "PUT", url, data)["node"]
            self.object_id = node["_id"]
            if "store_object_id" in scenario:
                for name, argument in {"NODE-table": "tid", "NODE-foreign_data_wrapper": "fid", "NODE-foreign_server": "fsid", "NODE-foreign_table": "tid", "NODE-view": "tid"}.items():
                    if scenario["endpoint"].startswith(name + "."):
                        self.parents[argument] = self.object_id
                self.objects[data.get("name", data.get("rolname"))] = self.object_id
            seen["node"] = plain(node)
            if scenario.get("sql_endpoint"):
                seen["sql"] = plain(found("GET", url_of(scenario["sql_endpoint"], self.options(scenario["sql_endpoint"]), self.object_id)))
                properties = scenario["sql_endpoint"].replace(".sql_id", ".obj_id")
                seen["properties"] = plain(found("GET", url_of(properties, self.options(properties), self.object_id)))
        elif kind:
            seen[kind] = plain(found("GET", url))
        return json.loads(re.sub(r"(SCRAM-SHA-256\$|md5)[^'\"]*", "secret", json.dumps(seen)))


def scenario_files():
    """For each kind of object those of the newest version that PostgreSQL 15 has."""
    for directory in sorted(glob.glob(os.path.join(root, "pgadmin/browser/server_groups/servers/**/tests"), recursive=True)):
        if "pgagent" in directory:
            continue
        inside = os.path.join(directory, "pg") if os.path.isdir(os.path.join(directory, "pg")) else directory
        for version in ("15_plus", "14_plus", "13_plus", "default", "Default"):
            files = sorted(glob.glob(os.path.join(inside, version, "*.json")))
            if files:
                yield from files
                break


def own_scenarios():
    did = database_of(place["dbname"])
    for file in scenario_files():
        with open(file) as opened:
            lists = json.load(opened)
        several = Scenarios(file, did)
        if only and not only.startswith(several.label[:len(only)]) and only not in "own " + several.label:
            continue
        names = []
        for scenario in (one for key, many in lists.items() if isinstance(many, list) for one in many):
            names.append(scenario["name"])
            if "precondition_sql" in scenario and str(sql(scenario["precondition_sql"])[0][0]) != "1":
                continue
            told(f"own {several.label}: {scenario['name']}" + (f" {count}" if (count := names.count(scenario["name"])) > 1 else ""), lambda several=several, scenario=scenario: several.run(scenario))


# The tree

CHILDREN = {
    "server": ["database", "role", "tablespace"],
    "database": ["cast", "event_trigger", "extension", "foreign_data_wrapper", "language", "publication", "subscription", "schema", "catalog"],
    "foreign_data_wrapper": ["foreign_server"], "foreign_server": ["user_mapping"],
    "schema": ["aggregate", "collation", "domain", "foreign_table", "fts_configuration", "fts_dictionary", "fts_parser", "fts_template", "function", "procedure", "trigger_function", "mview", "view", "operator", "sequence", "table", "type"],
    "catalog": ["catalog_object"], "domain": ["domain_constraints"],
    "table": ["column", "check_constraint", "exclusion_constraint", "foreign_key", "index", "primary_key", "partition", "row_security_policy", "rule", "trigger", "unique_constraint"],
    "view": ["column", "rule", "trigger"], "mview": ["index"], "foreign_table": ["foreign_table_column"],
    "partition": ["column", "index", "check_constraint"]}
OWN = {"database": "did", "schema": "scid", "catalog": "scid", "table": "tid", "view": "tid", "mview": "tid", "partition": "tid", "foreign_table": "tid", "foreign_data_wrapper": "fid", "foreign_server": "fsid", "domain": "doid"}
WHATS = {"obj_id": plain, "sql_id": plain, "stats_id": columns_of, "dependency_id": plain, "dependent_id": plain}
ROUTES = None


def routes():
    global ROUTES
    ROUTES = ROUTES or {rule.endpoint for rule in app.url_map.iter_rules()}
    return ROUTES


def wanted(kind, label, path):
    if kind == "database":
        return label == place["dbname"]
    if kind == "role":
        return label.startswith("adm_") or label == superuser
    if kind == "schema":
        return label.startswith("adm")
    if kind == "catalog":
        return "ANSI" in label
    if kind == "catalog_object":
        return label in ("tables", "columns", "routines")
    if kind == "extension":
        return label in ("hstore", "plpgsql")
    if kind == "language":
        return label in ("plpgsql", "sql")
    return True


def walk(kind, path, options):
    for child in CHILDREN.get(kind, []):
        inside = f"{path}/{child}"
        nodes = []

        def listed(child=child):
            answer = found("GET", url_of(f"NODE-{child}.nodes", options))
            nodes.extend(answer["data"])
            return plain([one for one in answer["data"] if wanted(child, one["label"], path)])
        told(f"{inside} nodes", listed)
        if only and not nodes:
            try:
                listed()
            except Exception:  # noqa: BLE001: told when it is asked for
                continue
        if f"NODE-{child}.obj" in routes() and child not in ("cast", "database", "role", "tablespace", "foreign_key"):
            told(f"{inside} properties", lambda child=child: [one for one in plain(found("GET", url_of(f"NODE-{child}.obj", options))) if not isinstance(one, dict) or wanted(child, str(one.get("name")), path)])
        if f"NODE-{child}.stats" in routes():
            told(f"{inside} statistics", lambda child=child: columns_of(found("GET", url_of(f"NODE-{child}.stats", options))["data"])[:-1])
        for node in sorted(nodes, key=lambda one: str(one["label"])):
            label = str(node["label"])
            if not wanted(child, label, path):
                continue
            here = f"{inside}/{label}"
            for endpoint, shown in WHATS.items():
                if f"NODE-{child}.{endpoint}" in routes() and (child, endpoint) != ("tablespace", "dependent_id"):  # all catalogs
                    def looked(child=child, endpoint=endpoint, node=node, shown=shown):
                        answer = found("GET", url_of(f"NODE-{child}.{endpoint}", options, node["_id"]))
                        return shown(answer["data"] if isinstance(answer, dict) and endpoint == "stats_id" else answer)
                    told(f"{here} {endpoint.removesuffix('_id').replace('obj', 'properties')}", looked)
            if child == "database":
                asked("POST", f"/browser/database/connect/1/{sid}/{node['_id']}", {})
            if child in CHILDREN:
                walk(child, here, {**options, OWN[child]: node["_id"]})


# What a dialog asks the server for: the lists from which users choose

LISTS = {"table": ["get_oftype", "get_inherits", "get_relations", "get_types", "get_table_vacuum", "get_toast_table_vacuum", "get_access_methods", "get_table_access_methods", "get_operator", "get_op_class", "get_geometry_types"],
         "database": ["get_encodings", "get_ctypes", "vopts", "get_icu_locale"], "function": ["get_types", "get_languages", "vopts", "get_support_functions"], "type": ["get_types", "get_stypes", "get_subopclass", "get_stypediff", "get_external_functions", "get_collations"], "domain": ["get_types", "get_collations"],
         "index": ["get_access_methods", "get_op_class", "get_collations"], "role": ["vopts", "variables"], "cast": ["get_type"], "fts_configuration": ["parsers", "copyConfig", "tokens", "dictionaries"], "fts_parser": ["start_functions", "token_functions", "end_functions", "lextype_functions", "headline_functions"],
         "fts_template": ["get_lexize", "get_init"], "fts_dictionary": ["fetch_templates"], "language": ["get_functions", "get_templates"], "extension": ["avails"], "foreign_data_wrapper": ["get_handlers", "get_validators"], "event_trigger": ["fopts"], "foreign_table": ["get_collations", "get_types", "get_foreign_servers", "get_tables"],
         "mview": ["get_access_methods"], "publication": ["get_tables", "get_schemas"], "collation": ["get_collations"], "trigger": ["get_triggerfunctions"], "exclusion_constraint": ["get_access_methods", "get_oper_class", "get_operator"], "foreign_key": ["indices", "covering_index"],
         "column": ["get_types", "get_collations"], "tablespace": ["vopts", "move_objects"], "schema": ["get_types"], "procedure": ["get_types", "get_languages"], "trigger_function": ["get_languages"]}
OTHERS = ("extension_destdir", "output_plugin_libraries", "memory_limit")  # settings that Debian and Ouzel add


def lists(options):
    for kind, names in LISTS.items():
        for name in names:
            endpoint = f"NODE-{kind}.{name}"
            if endpoint not in routes():
                continue

            def asked_for(endpoint=endpoint):
                rule = min(app.url_map.iter_rules(endpoint), key=lambda one: len(one.arguments))
                with app.test_request_context():
                    from flask import url_for
                    url = url_for(rule.endpoint, **{argument: {"gid": 1, "sid": sid, **options}[argument] for argument in rule.arguments})
                answer = found("GET", url)
                answer = answer.get("data") if isinstance(answer, dict) else answer
                return plain([one for one in answer if not (isinstance(one, dict) and one.get("vartype") and ("." in one["name"] or one["name"] in OTHERS))] if isinstance(answer, list) else answer)
            told(f"list {kind} {name}", asked_for)


# Scripts of a table, counts, data, truncation

def table_tools(did, scid, tables, views):
    for name, tid in tables.items():
        options = {"did": did, "scid": scid, "tid": tid}
        for what in ("select_sql", "insert_sql", "update_sql", "delete_sql", "count_rows"):
            told(f"table {name} {what}", lambda what=what, options=options, tid=tid: plain(found("GET", url_of(f"NODE-table.{what}_id", options, tid))))
        for what, data in {"set_trigger": {"is_enable_trigger": "D"}, "truncate": {"cascade": True}}.items():
            if name == "adm_scratch":
                told(f"table {name} {what}", lambda what=what, data=data, options=options, tid=tid: plain(found("PUT", url_of(f"NODE-table.{what}_id", options, tid), data)))
        told(f"table {name} reset", lambda options=options, tid=tid: plain(found("DELETE", url_of("NODE-table.reset_id", options, tid))))
        told(f"table {name} toast", lambda tid=tid: plain(found("GET", url_of("NODE-table.obj_id", options, tid)) and sql("SELECT reltoastrelid <> 0 FROM pg_class WHERE oid = %s", tid)))
    told("table estimate of a new one", lambda: sql("SELECT reltuples FROM pg_class WHERE oid = 'adm.adm_types'::regclass"))
    for name, vid in views.items():
        for what in ("select_sql", "insert_sql"):
            told(f"view {name} {what}", lambda what=what, vid=vid: plain(found("GET", url_of(f"NODE-view.{what}_id", {"did": did, "scid": scid}, vid))))


# The query tool

transaction = 1000


def query_tool(did):
    global transaction
    transaction += 1
    number = transaction
    found("POST", f"/sqleditor/initialize/sqleditor/{number}/1/{sid}/{did}", {"dbname": place["dbname"]})
    return number


def polled(number):
    """What the query tool shows at the end. A poll that comes before it may have taken the messages already."""
    messages = ""
    for _ in range(200):
        status, answer = asked("GET", f"/sqleditor/poll/{number}")
        if status != 200:
            return {"status": status, "answer": plain(answer.get("errormsg") if isinstance(answer, dict) else answer)}
        data = answer["data"]
        if data["status"] != "Busy":
            kept = ("status", "result", "rows_affected", "primary_keys", "has_oids", "oids", "notifies", "transaction_status", "has_more_rows", "client_primary_key")
            seen = {key: data.get(key) for key in kept}
            seen["columns"] = [[one.get(key) for key in ("name", "type_name", "cell", "not_null", "has_default_val", "is_array", "seqtypid", "precision", "internal_size", "is_editable")] for one in data.get("colinfo") or []]
            last = data.get("additional_messages") or ""
            seen["messages"] = messages + last
            if isinstance(seen["result"], str):
                seen["result"] = re.sub(r"Time: .*|\d+ (msec|secs).*", "", seen["result"].removeprefix(last))
            return plain(seen)
        messages += data.get("result") or ""
        time.sleep(0.02)
    raise RuntimeError("busy for too long")


def executed(number, text, explain=None):
    status, answer = asked("POST", f"/sqleditor/query_tool/start/{number}", {"sql": text, "explain_plan": explain})
    if status != 200 or not answer.get("data", {}).get("status"):
        return {"started": status, "answer": plain(answer.get("data", {}).get("result") if isinstance(answer, dict) else answer)}
    return polled(number)


STATEMENTS = {
    "numbers": ["SELECT * FROM adm.adm_main ORDER BY id"], "types": ["SELECT * FROM adm.adm_types"], "empty": ["SELECT * FROM adm.adm_main WHERE false"], "no_table": ["SELECT 1 AS one, 'x'::text AS two, NULL::date AS three, ARRAY[1,2] AS four"], "same_names": ["SELECT 1 AS a, 2 AS a"], "join": ["SELECT m.id, m.name, c.note FROM adm.adm_main m JOIN adm.adm_child c ON c.main_id = m.id ORDER BY 1"],
    "insert": ["INSERT INTO adm.adm_scratch VALUES (100, 'x')"], "insert_returning": ["INSERT INTO adm.adm_scratch VALUES (101, 'y') RETURNING *"], "update": ["UPDATE adm.adm_scratch SET b = 'z' WHERE a >= 100"], "delete": ["DELETE FROM adm.adm_scratch WHERE a >= 100"], "ddl": ["CREATE TABLE adm.adm_new (a int)", "DROP TABLE adm.adm_new"], "several": ["SELECT 1; SELECT 2 AS last"],
    "notice": ["DO $$ BEGIN RAISE NOTICE 'a notice'; RAISE WARNING 'a warning'; END $$"], "error_syntax": ["SELEC 1"], "error_column": ["SELECT nothing FROM adm.adm_main"], "error_division": ["SELECT 1/0"], "error_constraint": ["INSERT INTO adm.adm_main (id, name) VALUES (1, 'again')"], "error_check": ["INSERT INTO adm.adm_main (id, name, amount, at) VALUES (1000, 'x', -5, '2024-01-01 00:00+00')"], "error_plpgsql": ["DO $$ BEGIN RAISE EXCEPTION 'raised' USING HINT = 'a hint', DETAIL = 'a detail'; END $$"],
    "transaction": ["BEGIN", "INSERT INTO adm.adm_scratch VALUES (200, 't')", "SELECT count(*) FROM adm.adm_scratch WHERE a = 200", "ROLLBACK", "SELECT count(*) FROM adm.adm_scratch WHERE a = 200"], "transaction_failed": ["BEGIN", "SELECT nothing", "SELECT 1", "ROLLBACK"], "large": ["SELECT i, repeat('x', 10) AS t FROM generate_series(1, 2500) AS i"], "show": ["SHOW search_path"], "set": ["SET work_mem = '8MB'", "SHOW work_mem"], "values": ["VALUES (1, 'a'), (2, 'b')"],
    "listen": ["LISTEN adm_channel", "NOTIFY adm_channel, 'hello'", "SELECT 1"], "call": ["CALL adm.adm_procedure(1)"], "vacuum": ["VACUUM adm.adm_scratch"], "analyze": ["ANALYZE adm.adm_scratch"], "view": ["SELECT * FROM adm.adm_view ORDER BY id"], "expression": ["SELECT id + 1, upper(name) FROM adm.adm_main ORDER BY 1"], "aggregate": ["SELECT mood, count(*) FROM adm.adm_main GROUP BY mood ORDER BY 1"],
    "nul_values": ["SELECT '\\x00ff'::bytea AS b, 'infinity'::timestamp AS t, 'NaN'::float8 AS f, '1 day'::interval AS i, '{\"a\": 1}'::jsonb AS j, '<a/>'::text AS x, 12345678901234567890.5::numeric AS n, '[1,5)'::int4range AS r, '(1,2)'::point AS p"]}
EXPLAINS = {"plain": {"verbose": False, "costs": True, "buffers": False, "timing": False, "summary": False, "settings": False, "wal": False, "generic_plan": False, "memory": False, "serialize": False, "format": "json", "analyze": False},
            "analyze": {"verbose": True, "costs": True, "buffers": True, "timing": True, "summary": True, "settings": True, "wal": True, "generic_plan": False, "memory": False, "serialize": False, "format": "json", "analyze": True}}


def tool_tests(did, tables):
    for name, texts in STATEMENTS.items():
        def several(texts=texts):
            number = query_tool(did)
            seen = [executed(number, text) for text in texts]
            asked("DELETE", f"/sqleditor/close/{number}")
            return seen
        told(f"query {name}", several)
    for name, explain in EXPLAINS.items():
        def explained(explain=explain):
            number = query_tool(did)
            answer = executed(number, "SELECT * FROM adm.adm_main WHERE id = 1", explain)
            asked("DELETE", f"/sqleditor/close/{number}")
            return [answer.get("status"), answer.get("columns"), isinstance(answer.get("result"), list) and "Plan" in str(answer["result"])]
        told(f"query explain {name}", explained)

    def in_window():
        number = query_tool(did)
        executed(number, "SELECT i FROM generate_series(1, 3000) AS i")
        seen = [len(found("GET", f"/sqleditor/fetch_window/{number}/1001/2000")["data"]["result"]), len(found("GET", f"/sqleditor/fetch_all_from_start/{number}/5000")["data"]["result"])]
        asked("DELETE", f"/sqleditor/close/{number}")
        return seen
    told("query fetch_window", in_window)

    def by_cursor():
        number = query_tool(did)
        found("POST", f"/sqleditor/server_cursor/{number}", {"server_cursor": True})
        seen = executed(number, "SELECT i FROM generate_series(1, 3000) AS i")
        seen = [seen["status"], len(seen["result"] or []), len(found("GET", f"/sqleditor/fetch_window/{number}/1001/2000")["data"]["result"])]
        asked("DELETE", f"/sqleditor/close/{number}")
        return seen
    told("query server_cursor", by_cursor)

    def without_autocommit():
        number = query_tool(did)
        found("POST", f"/sqleditor/auto_commit/{number}", False)
        seen = [executed(number, "INSERT INTO adm.adm_scratch VALUES (300, 'n')"), found("GET", f"/sqleditor/status/{number}")["data"]["status"], executed(number, "ROLLBACK")["status"], executed(number, "SELECT count(*) FROM adm.adm_scratch WHERE a = 300")]
        asked("DELETE", f"/sqleditor/close/{number}")
        return plain(seen)
    told("query without_autocommit", without_autocommit)
    told("query download", lambda: client.post(f"/sqleditor/query_tool/download/{query_tool(did)}", data={"query": "SELECT id, name, amount FROM adm.adm_main ORDER BY id", "query_commited": "true"}).data.decode()[:2000])
    for text in ("SELECT * FROM adm.", "SELECT * FROM adm.adm_main m WHERE m.", "SELECT adm_", "INSERT INTO adm.adm_main ("):
        told(f"query autocomplete {text}", lambda text=text: [sorted(plain(found("POST", f"/sqleditor/autocomplete/{query_tool(did)}", [text, text])["data"]["result"]), key=str)])
    for what in ("new_connection_database", "new_connection_user", "new_connection_role"):
        told(f"query {what}", lambda what=what: [one for one in plain(found("GET", f"/sqleditor/{what}/1/{sid}")["data"]["result"]["data"]) if "adm" in str(one)])

    # View data: sorted, filtered, edited
    for name, tid in tables.items():
        for cmd_type in (1, 2, 3, 4):
            def viewed(cmd_type=cmd_type, tid=tid):
                global transaction
                transaction += 1
                number = transaction
                found("POST", f"/sqleditor/initialize/viewdata/{number}/{cmd_type}/table/1/{sid}/{did}/{tid}", None if cmd_type != 4 else "true")
                started = found("GET", f"/sqleditor/view_data/start/{number}")["data"]
                seen = polled(number)
                asked("DELETE", f"/sqleditor/close/{number}")
                return [plain(started.get("sql")), started.get("can_edit"), started.get("can_filter"), seen]
            told(f"data {name} {cmd_type}", viewed)

    def edited():
        global transaction
        transaction += 1
        number = transaction
        found("POST", f"/sqleditor/initialize/viewdata/{number}/3/table/1/{sid}/{did}/{tables['adm_scratch']}")
        found("GET", f"/sqleditor/view_data/start/{number}")
        seen = [polled(number)]
        columns = [{"name": "a", "type": "integer", "cell": "number"}, {"name": "b", "type": "text", "cell": "string"}]
        for change in ({"added": {"2": {"err": False, "data": {"a": "900", "b": "new"}}}, "added_index": {"0": "2"}, "updated": {}, "deleted": {}}, {"added": {}, "updated": {"1": {"err": False, "data": {"b": "changed"}, "primary_keys": {"a": 900}}}, "deleted": {}},
                       {"added": {}, "updated": {"1": {"err": False, "data": {"a": "not a number"}, "primary_keys": {"a": 900}}}, "deleted": {}}, {"added": {}, "updated": {}, "deleted": {"1": {"a": 900}}}):
            seen.append(plain(asked("POST", f"/sqleditor/save/{number}", {**change, "columns": columns})[1].get("data")))
        seen.append(sql("SELECT * FROM adm.adm_scratch WHERE a = 900"))
        asked("DELETE", f"/sqleditor/close/{number}")
        return seen
    told("data edited", edited)

    def filtered():
        global transaction
        transaction += 1
        number = transaction
        found("POST", f"/sqleditor/initialize/viewdata/{number}/3/table/1/{sid}/{did}/{tables['adm_main']}")
        found("GET", f"/sqleditor/view_data/start/{number}")
        polled(number)
        seen = []
        for path, data in ((f"filter/inclusive/{number}", {"name": "two"}), (f"filter/remove/{number}", None), (f"filter/exclusive/{number}", {"name": "two"}), (f"limit/{number}", 1)):
            seen.append(asked("POST", f"/sqleditor/{path}", data)[0])
            found("GET", f"/sqleditor/view_data/start/{number}")
            seen.append(polled(number)["result"])
        seen.append(plain(found("GET", f"/sqleditor/filter_dialog/{number}")["data"]))
        seen.append(plain(asked("PUT", f"/sqleditor/filter_dialog/{number}", {"sql": "amount > 1", "data_sorting": [{"name": "name", "order": "desc"}]})[1]))
        found("GET", f"/sqleditor/view_data/start/{number}")
        seen.append(polled(number)["result"])
        asked("DELETE", f"/sqleditor/close/{number}")
        return seen
    told("data filtered", filtered)
    told("data filter_validate", lambda: [plain(asked("POST", f"/sqleditor/filter/validate/{sid}/{did}/{tables['adm_main']}", text)[1].get("data")) for text in ("id > 1", "nothing > 1")])


# The dashboard, the wizard for grants, the search for objects, ERD, schema diff

def other_tools(did, scid):
    for chart in ("session_stats", "tps_stats", "ti_stats", "to_stats", "bio_stats"):
        told(f"dashboard {chart}", lambda chart=chart: [[one, sorted(values) if isinstance(values, dict) else None] for one, values in sorted(found("GET", f"/dashboard/dashboard_stats/{sid}/{did}?chart_names={chart}").items())])
    for what in ("activity", "locks", "prepared"):
        for where in (f"{sid}/{did}", f"{sid}"):
            told(f"dashboard {what} {where.count('/')}", lambda what=what, where=where: sorted(found("GET", f"/dashboard/{what}/{where}")[0]) if found("GET", f"/dashboard/{what}/{where}") else [])
    told("dashboard config", lambda: [len(found("GET", f"/dashboard/config/{sid}")) > 200, sorted(found("GET", f"/dashboard/config/{sid}")[0]), sorted({one["category"] for one in found("GET", f"/dashboard/config/{sid}") if "Ouzel" not in one["category"]})])
    told("dashboard config names", lambda: sorted(one["name"] for one in found("GET", f"/dashboard/config/{sid}") if one["name"].startswith(("a", "c", "d", "e")) and one["name"] not in OTHERS))
    for what in ("replication_stats", "replication_slots", "log_formats"):
        told(f"dashboard {what}", lambda what=what: plain(found("GET", f"/dashboard/{what}/{sid}")))
    told("dashboard check_extension", lambda: plain(found("GET", f"/dashboard/check_extension/system_statistics/{sid}/{did}")))

    def cancelled():
        number = query_tool(did)
        asked("POST", f"/sqleditor/query_tool/start/{number}", {"sql": "SELECT pg_sleep(20)", "explain_plan": None})
        while not sql("SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()"):
            time.sleep(0.05)
        return [plain(found("POST", f"/sqleditor/cancel/{number}")), polled(number)]
    told("query cancel", cancelled)

    def ended(what):
        with psycopg.connect(uri, autocommit=True) as victim:
            answer = plain(found("DELETE", f"/dashboard/{what}/{sid}/{did}/{victim.info.backend_pid}"))
            try:
                victim.execute("SELECT 1")
                return [answer, "lives"]
            except psycopg.Error as error:
                return [answer, error.sqlstate]
    told("dashboard cancel_query", lambda: ended("cancel_query"))
    told("dashboard terminate_session", lambda: ended("terminate_session"))

    told("grant acl", lambda: plain(found("GET", f"/grant_wizard/acl/{sid}/{did}/")))
    told("grant objects of the database", lambda: [one for one in plain(found("GET", f"/grant_wizard/{sid}/{did}/{did}/database/")) if "adm" in str(one)])
    told("grant objects of the schema", lambda: plain(found("GET", f"/grant_wizard/{sid}/{did}/{scid}/schema/")))
    granted = {"acl": [{"grantee": "adm_reader", "grantor": superuser, "privileges": [{"privilege_type": "r", "privilege": True, "with_grant": False}]}],
               "objects": [{"object_type": "Table", "nspname": "adm", "name": "adm_main", "name_with_args": "adm_main"}, {"object_type": "View", "nspname": "adm", "name": "adm_view", "name_with_args": "adm_view"}]}
    told("grant sql", lambda: plain(found("POST", f"/grant_wizard/sql/{sid}/{did}/", granted)))
    told("grant apply", lambda: [plain(found("POST", f"/grant_wizard/{sid}/{did}/", granted)), sql("SELECT relacl::text FROM pg_class WHERE relname IN ('adm_main', 'adm_view') ORDER BY 1")])

    told("search types", lambda: plain(found("GET", f"/search_objects/types/{sid}/{did}")["data"]))
    for kind in ("all", "table", "column", "function", "index", "trigger", "sequence", "type", "domain", "view", "mview", "constraints", "cast", "schema", "rule", "partition", "aggregate", "operator", "foreign_data_wrapper", "foreign_server", "user_mapping", "foreign_table", "extension", "collation",
                 "fts_configuration", "fts_dictionary", "fts_parser", "fts_template", "event_trigger", "language", "publication", "row_security_policy", "trigger_function", "procedure", "domain_constraints"):
        told(f"search {kind}", lambda kind=kind: sorted(json.dumps([one.get("name"), one.get("type"), re.sub(r"\d{4,}", "N", str(one.get("path"))), one.get("schema_name")]) for one in found("GET", f"/search_objects/search/{sid}/{did}?text=adm&type={kind}")["data"]))

    def erd():
        number = 5000
        found("POST", f"/erd/initialize/{number}/1/{sid}/{did}", {})
        answer = found("GET", f"/erd/prequisite/{number}/1/{sid}/{did}")["data"]
        return [sorted(answer), plain([one for one in answer["schemas"] if "adm" in str(one)]), len(answer["col_types"]) > 60]
    told("erd prequisite", erd)
    drawn = {"nodes": {"n1": {"schema": "adm", "name": "drawn_one", "columns": [{"name": "id", "cltype": "integer", "attnotnull": True, "is_primary_key": True}, {"name": "t", "cltype": "text"}], "primary_key": [{"name": "drawn_key", "columns": [{"column": "id"}]}], "unique_constraint": [], "foreign_key": []}}, "links": {}}
    told("erd sql", lambda: plain(found("POST", f"/erd/sql/5000/1/{sid}/{did}", drawn)["data"]))


def compared_schemas(did, scid, other):
    """Schema diff of two schemas, kind by kind."""
    for kind in ("table", "view", "mview", "function", "procedure", "trigger_function", "sequence", "type", "domain", "collation", "foreign_table", "fts_configuration", "fts_dictionary"):
        def compare(kind=kind):
            from pgadmin.tools.schema_diff.node_registry import SchemaDiffRegistry
            with client:
                asked("GET", "/misc/ping")  # within this request's session there are connections
                view = SchemaDiffRegistry.get_node_view(kind)
                answer = view.compare(source_sid=sid, source_did=did, source_scid=scid, target_sid=sid, target_did=did, target_scid=other, group_name="x", ignore_owner=False, ignore_whitespaces=False, ignore_tablespace=False, ignore_grants=False)
                return sorted(json.dumps(plain([one.get(key) for key in ("type", "title", "status", "source_ddl", "target_ddl", "diff_ddl")])) for one in answer or [])
        told(f"diff {kind}", compare)


SETUP = r"""
DROP SCHEMA IF EXISTS adm CASCADE; DROP SCHEMA IF EXISTS adm_other CASCADE; DROP EVENT TRIGGER IF EXISTS adm_event; DROP FOREIGN DATA WRAPPER IF EXISTS adm_wrapper CASCADE; DROP PUBLICATION IF EXISTS adm_publication; DROP EXTENSION IF EXISTS hstore CASCADE;
DO $$ BEGIN CREATE ROLE adm_reader; EXCEPTION WHEN duplicate_object THEN END $$; DO $$ BEGIN CREATE ROLE adm_owner LOGIN CREATEDB CONNECTION LIMIT 5 VALID UNTIL '2040-01-01 00:00+00' IN ROLE adm_reader; EXCEPTION WHEN duplicate_object THEN END $$;
COMMENT ON ROLE adm_owner IS 'an owner'; ALTER ROLE adm_owner SET work_mem = '8MB';
CREATE SCHEMA adm; COMMENT ON SCHEMA adm IS 'a schema'; GRANT USAGE ON SCHEMA adm TO adm_reader; ALTER DEFAULT PRIVILEGES IN SCHEMA adm GRANT SELECT ON TABLES TO adm_reader; CREATE SCHEMA adm_other; CREATE EXTENSION hstore;
CREATE TYPE adm.adm_mood AS ENUM ('happy', 'it''s sad'); COMMENT ON TYPE adm.adm_mood IS 'moods'; CREATE TYPE adm.adm_pair AS (a integer, b character varying(10) COLLATE "C"); CREATE TYPE adm.adm_range AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi);
CREATE TYPE adm.adm_shell;
CREATE DOMAIN adm.adm_positive AS integer DEFAULT 1 NOT NULL CONSTRAINT adm_positive_check CHECK (VALUE > 0); CREATE DOMAIN adm.adm_text AS varchar(20) COLLATE "C"; COMMENT ON DOMAIN adm.adm_text IS 'a domain';
CREATE COLLATION adm.adm_collation (LC_COLLATE = 'C', LC_CTYPE = 'C');
CREATE SEQUENCE adm.adm_sequence AS integer INCREMENT 5 MINVALUE 5 MAXVALUE 1000 START 10 CACHE 3 CYCLE; GRANT USAGE ON SEQUENCE adm.adm_sequence TO adm_reader; COMMENT ON SEQUENCE adm.adm_sequence IS 'by fives';
CREATE TABLE adm.adm_main (id integer GENERATED BY DEFAULT AS IDENTITY, name text NOT NULL DEFAULT 'x', amount numeric(10,2), mood adm.adm_mood, at timestamptz(3) DEFAULT now(), tags text[], twice numeric GENERATED ALWAYS AS (amount * 2) STORED, code varchar(5) COLLATE "C", pair adm.adm_pair, n adm.adm_positive,
  CONSTRAINT adm_main_pkey PRIMARY KEY (id), CONSTRAINT adm_main_name UNIQUE (name) INCLUDE (code), CONSTRAINT adm_main_check CHECK (amount >= 0), CONSTRAINT adm_main_later CHECK (amount < 1000) NO INHERIT NOT VALID) WITH (fillfactor = 80, autovacuum_enabled = false);
COMMENT ON TABLE adm.adm_main IS 'the main table'; COMMENT ON COLUMN adm.adm_main.name IS 'a name'; GRANT SELECT, INSERT ON adm.adm_main TO adm_reader; GRANT UPDATE (name) ON adm.adm_main TO adm_reader WITH GRANT OPTION; ALTER TABLE adm.adm_main ALTER name SET STATISTICS 50; ALTER TABLE adm.adm_main ALTER name SET STORAGE EXTERNAL;
INSERT INTO adm.adm_main (id, name, amount, mood, at, tags, code, n) VALUES (1, 'one', 1.5, 'happy', '2024-01-01 00:00+00', '{a,b}', 'A', 1), (2, 'two', 2.5, 'it''s sad', '2024-01-02 00:00+00', NULL, NULL, 2), (3, 'three', NULL, NULL, '2024-01-03 00:00+00', '{}', 'C', 3);
CREATE TABLE adm.adm_child (id serial PRIMARY KEY, main_id integer NOT NULL, note text, CONSTRAINT adm_child_main FOREIGN KEY (main_id) REFERENCES adm.adm_main (id) MATCH SIMPLE ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED); COMMENT ON CONSTRAINT adm_child_main ON adm.adm_child IS 'to its parent'; INSERT INTO adm.adm_child (main_id, note) VALUES (1, 'n1'), (2, 'n2');
CREATE TABLE adm.adm_scratch (a integer PRIMARY KEY, b text); INSERT INTO adm.adm_scratch VALUES (1, 'x'), (2, NULL);
CREATE TABLE adm.adm_types (b boolean, i2 smallint, i8 bigint, f4 real, f8 double precision, t time(3), d date, ts timestamp, iv interval day to second(3), u uuid, j json, jb jsonb, by bytea, inet inet, m macaddr, bits bit(3), vb bit varying(5), r int4range, p point, x xml, h hstore, c char(3), mo money, ts_v tsvector, o oid, arr int[][]);
INSERT INTO adm.adm_types (b, i2, i8, f4, f8, t, d, ts, iv, u, j, jb, by, inet, bits, r, p, h, c, arr) VALUES (true, 1, 2, 1.5, 2.5, '12:00', '2024-01-01', '2024-01-01', '1 day', '00000000-0000-0000-0000-00000000002a', '{"a": 1}', '[1]', '\x00ff', '10.0.0.1', '101', '[1,5)', '(1,2)', 'a=>1', 'x', '{{1,2}}');
CREATE TABLE adm.adm_parent (a int, b text); CREATE TABLE adm.adm_inherits (c date) INHERITS (adm.adm_parent); CREATE TABLE adm.adm_of OF adm.adm_pair (a WITH OPTIONS NOT NULL); CREATE UNLOGGED TABLE adm.adm_unlogged (a int); CREATE TABLE adm."adm Odd""Name" ("Col umn" int, "select" text);
CREATE TABLE adm.adm_parts (a int, b text, PRIMARY KEY (a)) PARTITION BY RANGE (a); CREATE TABLE adm.adm_parts_one PARTITION OF adm.adm_parts FOR VALUES FROM (MINVALUE) TO (10); CREATE TABLE adm.adm_parts_two PARTITION OF adm.adm_parts FOR VALUES FROM (10) TO (20) PARTITION BY LIST (b); CREATE TABLE adm.adm_parts_two_x PARTITION OF adm.adm_parts_two DEFAULT; CREATE TABLE adm.adm_parts_rest PARTITION OF adm.adm_parts DEFAULT;
""".replace("PRIMARY KEY (a)) PARTITION BY RANGE", "CHECK (a > -100)) PARTITION BY RANGE") + r"""
CREATE TABLE adm.adm_hashed (a int, b text) PARTITION BY HASH (a); CREATE TABLE adm.adm_hashed_one PARTITION OF adm.adm_hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE adm.adm_listed (a int, b text) PARTITION BY LIST (b COLLATE "C"); CREATE TABLE adm.adm_listed_x PARTITION OF adm.adm_listed FOR VALUES IN ('x', NULL);
CREATE INDEX adm_index ON adm.adm_main USING btree (name COLLATE "C" text_pattern_ops DESC NULLS LAST, amount) INCLUDE (code) WITH (fillfactor = 70) WHERE amount > 0; COMMENT ON INDEX adm.adm_index IS 'an index'; CREATE UNIQUE INDEX adm_unique ON adm.adm_main (lower(name)) NULLS NOT DISTINCT; CREATE INDEX adm_hash ON adm.adm_main USING hash (code); CREATE INDEX adm_gin ON adm.adm_main USING gin (tags); CREATE INDEX adm_brin ON adm.adm_main USING brin (at) WITH (pages_per_range = 16); CREATE INDEX adm_parts_index ON adm.adm_parts (b);
CREATE STATISTICS adm.adm_statistics (dependencies, ndistinct) ON id, name FROM adm.adm_main;
CREATE VIEW adm.adm_view WITH (security_barrier = true, check_option = local) AS SELECT id, name, amount FROM adm.adm_main WHERE amount > 0; COMMENT ON VIEW adm.adm_view IS 'a view'; GRANT SELECT ON adm.adm_view TO adm_reader; CREATE VIEW adm.adm_view_two AS SELECT v.id, count(*) AS n FROM adm.adm_view v JOIN adm.adm_child c ON c.main_id = v.id GROUP BY v.id; CREATE RECURSIVE VIEW adm.adm_view_three (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM adm_view_three WHERE n < 5;
CREATE MATERIALIZED VIEW adm.adm_mview WITH (fillfactor = 90) AS SELECT mood, count(*) AS n FROM adm.adm_main GROUP BY mood; CREATE UNIQUE INDEX adm_mview_index ON adm.adm_mview (mood); CREATE MATERIALIZED VIEW adm.adm_mview_empty AS SELECT 1 AS a WITH NO DATA;
CREATE FUNCTION adm.adm_function(a integer, INOUT b text DEFAULT 'x', OUT c numeric) RETURNS record LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER PARALLEL SAFE COST 50 SET work_mem = '4MB' SET search_path = adm, pg_catalog AS $$ BEGIN b := b || a; c := a; END $$; COMMENT ON FUNCTION adm.adm_function(integer, text) IS 'a function'; REVOKE ALL ON FUNCTION adm.adm_function(integer, text) FROM PUBLIC; GRANT EXECUTE ON FUNCTION adm.adm_function(integer, text) TO adm_reader;
CREATE FUNCTION adm.adm_sql(n int, VARIADIC rest int[]) RETURNS int LANGUAGE sql IMMUTABLE LEAKPROOF AS 'SELECT n + cardinality(rest)'; CREATE FUNCTION adm.adm_rows() RETURNS TABLE (x int, y adm.adm_mood) LANGUAGE sql ROWS 5 AS $$ SELECT 1, 'happy'::adm.adm_mood $$; CREATE FUNCTION adm.adm_set() RETURNS SETOF adm.adm_main LANGUAGE sql AS 'SELECT * FROM adm.adm_main'; CREATE FUNCTION adm.adm_body(a int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT a + 1; END;
CREATE FUNCTION adm.adm_window() RETURNS bigint LANGUAGE internal WINDOW IMMUTABLE AS 'window_row_number';
CREATE PROCEDURE adm.adm_procedure(a integer, INOUT b text DEFAULT 'y') LANGUAGE plpgsql AS $$ BEGIN b := a; END $$; COMMENT ON PROCEDURE adm.adm_procedure(integer, text) IS 'a procedure';
CREATE FUNCTION adm.adm_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; CREATE FUNCTION adm.adm_event_function() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$;
CREATE TRIGGER adm_before BEFORE INSERT OR UPDATE OF name, amount ON adm.adm_main FOR EACH ROW WHEN (NEW.amount > 5) EXECUTE FUNCTION adm.adm_trigger('a', '1'); COMMENT ON TRIGGER adm_before ON adm.adm_main IS 'a trigger'; CREATE TRIGGER adm_after AFTER DELETE ON adm.adm_main REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION adm.adm_trigger(); CREATE CONSTRAINT TRIGGER adm_constraint AFTER UPDATE ON adm.adm_child DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION adm.adm_trigger(); CREATE TRIGGER adm_instead INSTEAD OF INSERT ON adm.adm_view_two FOR EACH ROW EXECUTE FUNCTION adm.adm_trigger(); ALTER TABLE adm.adm_main DISABLE TRIGGER adm_after;
CREATE EVENT TRIGGER adm_event ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA', 'DROP SCHEMA') EXECUTE FUNCTION adm.adm_event_function(); ALTER EVENT TRIGGER adm_event DISABLE;
CREATE RULE adm_rule AS ON INSERT TO adm.adm_parent WHERE NEW.a < 0 DO INSTEAD NOTHING; CREATE RULE adm_rule_two AS ON UPDATE TO adm.adm_view_two DO INSTEAD (UPDATE adm.adm_child SET note = 'u' WHERE main_id = OLD.id); COMMENT ON RULE adm_rule ON adm.adm_parent IS 'a rule';
ALTER TABLE adm.adm_child ENABLE ROW LEVEL SECURITY; CREATE POLICY adm_policy ON adm.adm_child AS RESTRICTIVE FOR UPDATE TO adm_reader, adm_owner USING (main_id > 0) WITH CHECK (note IS NOT NULL); CREATE POLICY adm_policy_all ON adm.adm_child USING (true);
CREATE AGGREGATE adm.adm_sum (integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '0'); CREATE AGGREGATE adm.adm_percentile (float8 ORDER BY float8) (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA); COMMENT ON AGGREGATE adm.adm_sum (integer) IS 'a sum';
CREATE FUNCTION adm.adm_equal(a adm.adm_pair, b adm.adm_pair) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT (a).a = (b).a'; CREATE OPERATOR adm.=== (FUNCTION = adm.adm_equal, LEFTARG = adm.adm_pair, RIGHTARG = adm.adm_pair, COMMUTATOR = OPERATOR(adm.===), RESTRICT = eqsel, JOIN = eqjoinsel);
CREATE FUNCTION adm.adm_to_text(a adm.adm_pair) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT (a).b::text'; CREATE CAST (adm.adm_pair AS text) WITH FUNCTION adm.adm_to_text(adm.adm_pair) AS ASSIGNMENT;
CREATE TEXT SEARCH DICTIONARY adm.adm_dictionary (TEMPLATE = pg_catalog.simple, STOPWORDS = english); CREATE TEXT SEARCH CONFIGURATION adm.adm_configuration (PARSER = pg_catalog."default"); ALTER TEXT SEARCH CONFIGURATION adm.adm_configuration ADD MAPPING FOR asciiword, word WITH adm.adm_dictionary, english_stem; CREATE TEXT SEARCH PARSER adm.adm_parser (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype, HEADLINE = prsd_headline); CREATE TEXT SEARCH TEMPLATE adm.adm_template (INIT = dsimple_init, LEXIZE = dsimple_lexize); COMMENT ON TEXT SEARCH CONFIGURATION adm.adm_configuration IS 'a configuration';
CREATE FOREIGN DATA WRAPPER adm_wrapper OPTIONS (debug 'true'); COMMENT ON FOREIGN DATA WRAPPER adm_wrapper IS 'a wrapper'; CREATE SERVER adm_server TYPE 't' VERSION '1' FOREIGN DATA WRAPPER adm_wrapper OPTIONS (host 'h', port '1'); GRANT USAGE ON FOREIGN SERVER adm_server TO adm_reader; CREATE USER MAPPING FOR adm_reader SERVER adm_server OPTIONS (username 'u', pass 'p'); CREATE USER MAPPING FOR PUBLIC SERVER adm_server; CREATE FOREIGN TABLE adm.adm_foreign (a int OPTIONS (name 'x') NOT NULL, b text COLLATE "C" DEFAULT 'd', CONSTRAINT adm_foreign_check CHECK (a > 0)) SERVER adm_server OPTIONS (path '/x'); COMMENT ON FOREIGN TABLE adm.adm_foreign IS 'a foreign table';
CREATE PUBLICATION adm_publication FOR TABLE adm.adm_main (id, name) WHERE (id > 1), adm.adm_child WITH (publish = 'insert, update');
CREATE TABLE adm_other.adm_main (id integer NOT NULL, name varchar(10), more date); CREATE TABLE adm_other.adm_only (a int); CREATE VIEW adm_other.adm_view AS SELECT 1 AS id; CREATE FUNCTION adm_other.adm_sql(n int, VARIADIC rest int[]) RETURNS int LANGUAGE sql AS 'SELECT n'; CREATE SEQUENCE adm_other.adm_sequence; CREATE TYPE adm_other.adm_mood AS ENUM ('happy', 'sad'); CREATE DOMAIN adm_other.adm_positive AS integer;
ANALYZE adm.adm_main;
"""

try:
    sql(f"ALTER DATABASE {place['dbname']} SET lock_timeout = '20s'")
    for statement in re.split(r";\s*\n", SETUP):
        try:
            sql(statement)
        except psycopg.Error as wrong:
            told(f"setup {statement.strip()[:60]}", lambda wrong=wrong: str(wrong))
            for one in re.split(r";(?= )", statement):
                try:
                    sql(one)
                except psycopg.Error:
                    pass
    own_database = database_of(place["dbname"])
    schemas = dict(sql("SELECT nspname, oid FROM pg_namespace WHERE nspname LIKE 'adm%%'"))
    relations = {kind: dict(sql("SELECT relname, oid FROM pg_class WHERE relnamespace = %s AND relkind = ANY(%s) AND NOT relispartition ORDER BY 1", schemas["adm"], kinds)) for kind, kinds in {"tables": ["r", "p"], "views": ["v"]}.items()}
    walk("server", "", {})
    lists({"did": own_database, "scid": schemas["adm"], "tid": relations["tables"]["adm_main"]})
    tool_tests(own_database, relations["tables"])
    other_tools(own_database, schemas["adm"])
    compared_schemas(own_database, schemas["adm"], schemas["adm_other"])
    table_tools(own_database, schemas["adm"], relations["tables"], relations["views"])
    own_scenarios()
finally:
    shutil.rmtree(home, ignore_errors=True)
os._exit(0)  # threads of the application go on
