"""What users of postgres_fdw do in a PostgreSQL, the local server, with tables of a remote one: tables imported, values of all types,
filters, joins and aggregates that are shipped, writes by the batch, direct and by ctid, transactions, savepoints, errors, estimates,
ANALYZE, partitions, connections. Prints for each test a line of JSON: its name and what it has seen, which suite.py compares."""
import json
import re
import sys

import psycopg

local_place, remote_place = sys.argv[1:3]
REMOTE_WORDS = dict(word.split("=", 1) for word in remote_place.split())
OPTIONS = f"host '{REMOTE_WORDS['host']}', port '{REMOTE_WORDS['port']}', dbname '{REMOTE_WORDS['dbname']}'"
TESTS = {}


def script(name, *steps):
    """A test that runs statements: on the local server, or on the remote one if they begin with "remote:"; with "plan:" what of a query
    is shipped is seen, too."""
    TESTS[name] = steps


def outcome(connection, statement):
    """The rows, or the status, or what has gone wrong."""
    try:
        cursor = connection.execute(statement)
        return [row for row in cursor if not str(row[0]).startswith("Query Identifier")] if cursor.description else cursor.statusmessage
    except psycopg.Error as error:
        fields = ["sqlstate", "severity", "message_primary", "message_detail", "message_hint", "context", "schema_name", "table_name", "column_name", "constraint_name"]
        return [without_place(f"{field}: {value}") for field in fields if (value := getattr(error.diag, field))] or [without_place(str(error))]


def without_place(text):
    return text.replace(f"port {REMOTE_WORDS['port']}", "port").replace(f":{REMOTE_WORDS['port']}", ":port")


def shipped(connection, query):
    """The nodes of a plan and the queries to the remote server."""
    found = outcome(connection, f"EXPLAIN (VERBOSE, COSTS OFF) {query}")
    lines = [line[0] if isinstance(line, tuple) else line for line in found]
    return [line.strip() for line in lines if re.search("Remote SQL|Foreign|Join|Loop|Aggregate|Sort$|Limit|Append|sqlstate|message", line)]


def run(steps, local, remote):
    found = []
    for step in steps:
        kind, _, statement = step.partition(":") if re.match("(remote|plan):", step) else ("", "", step)
        if kind == "plan":
            found.append(shipped(local, statement.strip()))
        found.append(outcome(remote if kind == "remote" else local, statement.strip()))
    return found


# Values: read, compared on the remote server, and written through a parameter and as a literal.
VALUES = {
    "smallint": ["-32768", "7"], "integer": ["-5", "2147483647"], "bigint": ["9223372036854775807", "0"], "real": ["1.1", "NaN", "-Infinity"], "double precision": ["0.1", "1e300", "NaN"],
    "numeric": ["12345678901234567890.123456789", "NaN", "Infinity"], "numeric(9,3)": ["1.5", "-0.001"], "text": ["it''s", "", "back\\slash", "\u00e4\u20ac"], "varchar(10)": ["abc", ""],
    "char(5)": ["ab", ""], "name": ["n"], '"char"': ["c"], "boolean": ["true", "false"], "date": ["1999-12-31", "infinity", "4713-01-01 BC"], "time": ["23:59:59.999999", "24:00"],
    "timetz": ["12:00:00+02"], "timestamp": ["2024-02-29 12:34:56.789", "-infinity"], "timestamp(0)": ["2024-02-29 12:34:56"], "timestamptz": ["2024-02-29 12:34:56.789+05"],
    "interval": ["1 year 2 mons -3 days 04:05:06.7"], "interval day to second": ["3 days 04:05:06"], "bytea": ["\\x0001ff", ""], "uuid": ["00000000-0000-0000-0000-00000000002a"],
    "json": ["{\"a\": [1, null]}"], "jsonb": ["{\"a\": [1, null]}"], "inet": ["10.0.0.1/8", "::1"], "cidr": ["10.0.0.0/8"], "macaddr": ["08:00:2b:01:02:03"], "macaddr8": ["08:00:2b:01:02:03:04:05"],
    "bit(3)": ["101"], "varbit": ["10101", ""], "money": ["$1,234.50"], "oid": ["7"], "point": ["(1,2)"], "line": ["{1,-1,0}"], "lseg": ["[(1,2),(3,4)]"], "box": ["(3,4),(1,2)"],
    "path": ["((1,2),(3,4))"], "polygon": ["((1,2),(3,4),(5,0))"], "circle": ["<(1,2),3>"], "int4range": ["[1,5)", "empty"], "numrange": ["[1.5,)"], "tstzrange": ["[2024-01-01 00:00:00+00,)"],
    "int4multirange": ["{[1,3),[5,7)}"], "integer[]": ["{1,NULL,3}", "{{1,2},{3,4}}", "{}"], "text[]": ["{\"a b\",\"q\\\"\",NULL}"], "regclass": ["pg_class"], "regtype": ["integer"], "pg_lsn": ["16/B374D848"],
    "mood": ["sad", "happy"], "pair": ["(1,\"a b\")"], "positive": ["5"], "xml": ["<a>1</a>"], "tsvector": ["'a' 'b'"], "jsonpath": ["$.\"a\""], "tid": ["(0,1)"]}
NOT_COMPARED = {"json", "xml", "point", "polygon", "jsonpath", "box", "path"}

for kind, values in VALUES.items():
    quoted = [f"'{value}'" for value in values]
    script("value_" + re.sub(r"\W+", "_", kind).strip("_"),
           f"remote: CREATE TABLE s.v (id int PRIMARY KEY, v {kind})",
           "remote: INSERT INTO s.v VALUES " + ", ".join(f"({i}, {value})" for i, value in enumerate(quoted)) + ", (99, NULL)",
           "IMPORT FOREIGN SCHEMA s LIMIT TO (v) FROM SERVER there INTO public",
           "SELECT id, v::text FROM v ORDER BY id",
           *([] if kind in NOT_COMPARED else [f"plan: SELECT id FROM v WHERE v = {quoted[0]} ORDER BY id"]),
           f"INSERT INTO v VALUES (100, {quoted[-1]}), (101, NULL) RETURNING id, v::text",
           f"UPDATE v SET v = {quoted[0]} WHERE id = 101",
           "UPDATE v SET v = (SELECT v FROM v WHERE id = 0) WHERE id = not_shipped(99)",
           "remote: SELECT id, v::text FROM s.v ORDER BY id")

# Filters that the remote server gets.
FILTERS = {
    "equal": "id = 5", "compare": "price > 90 AND price <= 95", "or": "id = 1 OR grp = 3 AND NOT flag", "in": "id IN (1, 2, 300)", "not_in": "id NOT IN (SELECT 1) AND id < 4", "any": "id = ANY (ARRAY[1, 7])",
    "between": "made BETWEEN '2024-01-05' AND '2024-01-08'", "null": "name IS NULL", "not_null": "name IS NOT NULL AND id < 5", "distinct": "name IS DISTINCT FROM 'item 3' AND id < 6", "like": "name LIKE 'item 1%'",
    "not_like": "name NOT LIKE 'item%' OR id = 1", "ilike": "name ILIKE 'ITEM 2_'", "regex": "name ~ '^item [89]$'", "lower": "lower(name) = 'item 10'", "concat": "name || 'x' = 'item 4x'", "length": "length(name) = 8 AND id < 100",
    "substring": "substring(name from 6 for 1) = '9'", "arithmetic": "id * 2 + 1 = 15", "division": "id % 10 = 3 AND id / 10 > 5", "abs": "abs(-id) = 3", "round": "round(price) = 16", "case": "CASE WHEN flag THEN id ELSE 0 END = 2",
    "bool": "flag AND id < 7", "is_true": "flag IS TRUE AND id < 7", "is_not_false": "flag IS NOT FALSE AND id < 9", "cast": "id::text = '42'", "cast_date": "made::timestamp = '2024-01-05 00:00'", "date_part": "extract(day FROM made) = 3",
    "date_plus": "made + 1 = '2024-01-05'", "array": "ARRAY[id, grp] = ARRAY[7, 2]", "array_contains": "tags @> ARRAY['t3']", "array_element": "tags[1] = 't3'", "array_slice": "tags[1:1] = '{t4}'", "array_overlap": "tags && ARRAY['t1', 't2']",
    "jsonb": "data ->> 'k' = '5'", "jsonb_contains": "data @> '{\"k\": 6}'", "jsonb_exists": "data ? 'k' AND id < 3", "row": "(id, grp) = (6, 1)", "row_less": "(grp, id) < (0, 12)", "greatest": "GREATEST(id, 5) = 5", "nullif": "NULLIF(id, 3) IS NULL",
    "collate": "name COLLATE \"C\" < 'item 11'", "volatile": "random() >= 0 AND id < 3", "user_function": "id = not_shipped(8)", "now": "made < now() AND id < 3", "subquery": "id = (SELECT max(id) FROM grp)", "exists": "EXISTS (SELECT FROM grp WHERE grp.id = item.grp AND label = 'g1') AND item.id < 9",
    "bits": "(id & 3) = 3 AND id < 12", "power": "id ^ 2 = 49", "numeric_text": "price::text LIKE '%.75' AND id < 12", "ctid": "ctid IS NOT NULL AND id < 3", "tableoid": "tableoid = 'item'::regclass AND id < 3", "all_of": "id <> ALL ('{1,2,3}') AND id < 6",
    "to_char": "to_char(made, 'DD') = '04'", "like_escape": "name LIKE 'item!_%' ESCAPE '!' OR id = 2", "starts": "starts_with(name, 'item 3')", "whole_row": "item IS NOT NULL AND item.id < 3", "negative": "-id = -12", "factor": "price * 1.5 = 17.25"}
for name, condition in FILTERS.items():
    script(f"filter_{name}", f"plan: SELECT id FROM item WHERE {condition} ORDER BY id")

QUERIES = {
    "count": "SELECT count(*) FROM item", "sums": "SELECT sum(id), sum(price), avg(price), min(made), max(name), avg(id) FROM item", "groups": "SELECT grp, count(*), sum(price) FROM item GROUP BY grp ORDER BY grp",
    "having": "SELECT grp, count(*) FROM item GROUP BY grp HAVING sum(id) > 900 ORDER BY 1", "distinct_count": "SELECT count(DISTINCT grp), sum(DISTINCT grp) FROM item", "filter": "SELECT count(*) FILTER (WHERE flag), sum(id) FILTER (WHERE id < 10) FROM item",
    "string_agg": "SELECT grp, string_agg(name, ',' ORDER BY id DESC) FROM item WHERE id < 20 GROUP BY grp ORDER BY 1", "array_agg": "SELECT array_agg(id ORDER BY id) FROM item WHERE id < 6", "statistics": "SELECT round(stddev(id), 4), round(variance(price), 4), round(corr(id, grp)::numeric, 6) FROM item",
    "bools": "SELECT bool_and(flag), bool_or(flag), every(id > 0), bit_or(id), bit_and(id) FROM item", "percentile": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id), mode() WITHIN GROUP (ORDER BY grp) FROM item", "grouping_sets": "SELECT grp, flag, count(*) FROM item GROUP BY ROLLUP (grp, flag) ORDER BY 1, 2",
    "group_expression": "SELECT id % 3, count(*) FROM item GROUP BY id % 3 ORDER BY 1", "group_ordinal": "SELECT upper(name), 5, count(*) FROM item WHERE id < 4 GROUP BY 1, 2 ORDER BY 1", "group_constant": "SELECT count(*), 'x' AS x FROM item GROUP BY 2", "distinct": "SELECT DISTINCT grp FROM item ORDER BY grp",
    "distinct_on": "SELECT DISTINCT ON (grp) grp, id FROM item ORDER BY grp, id DESC", "order": "SELECT id, name FROM item ORDER BY name DESC NULLS LAST, id LIMIT 5", "order_nulls": "SELECT id, name FROM item ORDER BY name NULLS FIRST, id LIMIT 4", "order_expression": "SELECT id FROM item ORDER BY id % 7, id DESC LIMIT 6",
    "offset": "SELECT id FROM item ORDER BY id LIMIT 3 OFFSET 10", "limit_all": "SELECT id FROM item WHERE id < 4 ORDER BY id LIMIT ALL", "limit_agg": "SELECT grp, sum(id) FROM item GROUP BY grp ORDER BY sum(id) DESC LIMIT 2", "with_ties": "SELECT grp FROM item ORDER BY grp FETCH FIRST 1 ROWS WITH TIES",
    "join": "SELECT i.id, g.label FROM item i JOIN grp g ON i.grp = g.id WHERE i.id < 5 ORDER BY i.id", "left_join": "SELECT i.id, g.label FROM item i LEFT JOIN grp g ON i.grp = g.id AND g.label <> 'g1' WHERE i.id < 9 ORDER BY i.id", "right_join": "SELECT i.id, g.label FROM item i RIGHT JOIN grp g ON i.id = g.id ORDER BY g.id, i.id",
    "full_join": "SELECT i.id, g.id FROM item i FULL JOIN grp g ON i.id = g.id * 20 WHERE i.id < 3 OR g.id IS NOT NULL ORDER BY 1, 2", "full_join_filtered": "SELECT i.id, g.id FROM (SELECT id FROM item WHERE id < 4) i FULL JOIN (SELECT id FROM grp WHERE id > 1) g ON i.id = g.id ORDER BY 1, 2",
    "self_join": "SELECT a.id, b.id FROM item a JOIN item b ON a.id = b.id + 50 ORDER BY 1 LIMIT 4", "three": "SELECT a.id, g.label, b.name FROM item a JOIN grp g ON a.grp = g.id JOIN item b ON b.id = g.id ORDER BY a.id LIMIT 5", "cross": "SELECT count(*) FROM item, grp", "semi": "SELECT id FROM grp WHERE id IN (SELECT grp FROM item WHERE id < 3) ORDER BY 1",
    "anti": "SELECT id FROM grp WHERE NOT EXISTS (SELECT FROM item WHERE item.grp = grp.id AND item.id > 0) ORDER BY 1", "join_group": "SELECT g.label, count(*), sum(i.price) FROM item i JOIN grp g ON i.grp = g.id GROUP BY g.label ORDER BY 1", "whole_row": "SELECT g, i.id FROM item i LEFT JOIN grp g ON i.grp = g.id AND g.id = 2 WHERE i.id < 5 ORDER BY i.id",
    "lateral": "SELECT g.id, x.id FROM grp g, LATERAL (SELECT id FROM item i WHERE i.grp = g.id ORDER BY i.id LIMIT 2) x ORDER BY 1, 2", "local_join": "SELECT l.a, i.name FROM (VALUES (3), (5)) l(a) JOIN item i ON i.id = l.a ORDER BY 1", "window": "SELECT id, row_number() OVER (PARTITION BY grp ORDER BY id) FROM item WHERE id < 8 ORDER BY id",
    "union": "SELECT id FROM item WHERE id < 3 UNION SELECT id FROM grp ORDER BY 1", "except": "SELECT id FROM grp EXCEPT ALL SELECT id FROM item WHERE id = 1 ORDER BY 1", "recursive": "WITH RECURSIVE r AS (SELECT id FROM item WHERE id = 1 UNION ALL SELECT i.id FROM item i JOIN r ON i.id = r.id * 3) SELECT * FROM r ORDER BY 1",
    "scalar": "SELECT id, (SELECT label FROM grp WHERE grp.id = item.grp) FROM item WHERE id < 4 ORDER BY id", "view": "SELECT * FROM cheap ORDER BY id", "no_column": "SELECT 1 FROM item WHERE id < 3", "system_columns": "SELECT tableoid::regclass, ctid IS NOT NULL, id FROM item WHERE id < 3 ORDER BY id",
    "for_update": "SELECT id FROM item WHERE id < 3 ORDER BY id FOR UPDATE", "for_share": "SELECT i.id FROM item i JOIN grp g ON g.id = i.grp WHERE i.id < 3 ORDER BY i.id FOR SHARE OF i", "order_using": "SELECT id FROM item ORDER BY id USING > LIMIT 2", "join_using": "SELECT id, label FROM item JOIN grp USING (id) ORDER BY id",
    "large": "SELECT count(*), sum(length(f.name)) FROM item f, item g WHERE f.id <> not_shipped(0) AND g.id <> not_shipped(0)", "sample": "SELECT count(*) FROM item TABLESAMPLE SYSTEM (100)"}
for name, query in QUERIES.items():
    script(f"query_{name}", f"plan: {query}")
    if not name.startswith(("order_using", "sample", "system", "no_")):
        script(f"estimate_{name}", "ALTER SERVER there OPTIONS (ADD use_remote_estimate 'true')", query)

# Tables imported.
COLUMNS = """SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated, pg_get_expr(d.adbin, d.adrelid), l.collname, a.attfdwoptions
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum LEFT JOIN pg_collation l ON l.oid = a.attcollation
  WHERE c.relnamespace = 'imported'::regnamespace AND c.relkind = 'f' ORDER BY c.relname, a.attnum"""
IMPORTS = {
    "all": "", "limited": "LIMIT TO (item, grp)", "except": "EXCEPT (item, grp)", "nothing": "LIMIT TO (no_such_table)", "partition": "LIMIT TO (by_range_1)"}
for name, which in IMPORTS.items():
    script(f"import_{name}", "CREATE SCHEMA imported", f"IMPORT FOREIGN SCHEMA s {which} FROM SERVER there INTO imported", COLUMNS,
           "SELECT ftoptions, ftrelid::regclass::text FROM pg_foreign_table WHERE ftrelid::regclass::text LIKE 'imported.%' ORDER BY 2")
for name, options in {"defaults": "import_default 'true'", "no_collate": "import_collate 'false'", "no_generated": "import_generated 'false'", "no_not_null": "import_not_null 'false'",
                      "all_options": "import_default 'true', import_collate 'true', import_generated 'true', import_not_null 'true'"}.items():
    script(f"import_{name}", "CREATE SCHEMA imported", f"IMPORT FOREIGN SCHEMA special FROM SERVER there INTO imported OPTIONS ({options})", COLUMNS)
script("import_no_schema", "IMPORT FOREIGN SCHEMA nowhere FROM SERVER there INTO public")
script("import_twice", "IMPORT FOREIGN SCHEMA s FROM SERVER there INTO public")
script("import_missing_type", "remote: CREATE TYPE s.unknown_here AS (a int)", "remote: CREATE TABLE s.uses (a s.unknown_here)", "IMPORT FOREIGN SCHEMA s LIMIT TO (uses) FROM SERVER there INTO public")
script("import_sequence_default", "remote: CREATE TABLE s.numbered (id serial, identity int GENERATED ALWAYS AS IDENTITY, v text DEFAULT 'x')", "CREATE SCHEMA imported",
       "IMPORT FOREIGN SCHEMA s LIMIT TO (numbered) FROM SERVER there INTO imported", COLUMNS, "IMPORT FOREIGN SCHEMA s LIMIT TO (numbered) FROM SERVER there INTO public OPTIONS (import_default 'true')")
script("names_quoted", "remote: CREATE TABLE s.\"Odd name\" (\"A b\" int, \"select\" text, \"q\"\"q\" int)", "remote: INSERT INTO s.\"Odd name\" VALUES (1, 'x', 2)",
       "IMPORT FOREIGN SCHEMA s LIMIT TO (\"Odd name\") FROM SERVER there INTO public", "plan: SELECT * FROM \"Odd name\" WHERE \"select\" = 'x'", "UPDATE \"Odd name\" SET \"q\"\"q\" = 3 RETURNING *")
script("names_other", "CREATE FOREIGN TABLE other (number int OPTIONS (column_name 'id'), title text OPTIONS (column_name 'name')) SERVER there OPTIONS (schema_name 's', table_name 'item')",
       "plan: SELECT number, title FROM other WHERE number < 3 ORDER BY 1", "UPDATE other SET title = 'changed' WHERE number = 1 RETURNING *")
script("dropped_column", "ALTER FOREIGN TABLE item DROP COLUMN price", "plan: SELECT * FROM item WHERE id = 1", "remote: ALTER TABLE s.item DROP COLUMN data", "SELECT * FROM item WHERE id = 1", "ALTER FOREIGN TABLE item DROP COLUMN data", "SELECT * FROM item WHERE id = 1")
script("columns_of_too_few", "CREATE FOREIGN TABLE few (id int, extra int) SERVER there OPTIONS (schema_name 's', table_name 'grp')", "SELECT id FROM few ORDER BY id", "SELECT * FROM few")
script("table_missing", "CREATE FOREIGN TABLE gone (id int) SERVER there OPTIONS (schema_name 's', table_name 'gone')", "SELECT * FROM gone", "INSERT INTO gone VALUES (1)")
script("type_other", "CREATE FOREIGN TABLE texts (id text, price float8, made text) SERVER there OPTIONS (schema_name 's', table_name 'item')", "SELECT id, price, made FROM texts ORDER BY id LIMIT 3", "plan: SELECT id FROM texts WHERE id = '5'")
script("type_wrong", "CREATE FOREIGN TABLE wrong (name int) SERVER there OPTIONS (schema_name 's', table_name 'item')", "SELECT * FROM wrong")
script("views", "remote: CREATE MATERIALIZED VIEW s.kept AS SELECT grp, count(*) AS n FROM s.item GROUP BY grp", "IMPORT FOREIGN SCHEMA s LIMIT TO (kept) FROM SERVER there INTO public", "SELECT * FROM kept ORDER BY grp", "DELETE FROM kept", "UPDATE cheap SET name = 'v' WHERE id = 1 RETURNING *")
script("partitioned", "INSERT INTO by_range VALUES (1, 'a'), (150, 'b')", "plan: SELECT * FROM by_range WHERE id > 100", "UPDATE by_range SET id = 160 WHERE id = 1", "INSERT INTO by_range VALUES (9999, 'none')", "remote: SELECT tableoid::regclass::text, id FROM s.by_range ORDER BY 2")

# Writes.
script("insert", "INSERT INTO grp VALUES (10, 'ten')", "INSERT INTO grp VALUES (11, 'eleven'), (12, NULL) RETURNING *", "INSERT INTO grp SELECT id + 100, name FROM item WHERE id < 4 ORDER BY id", "remote: SELECT * FROM s.grp ORDER BY id")
script("insert_default", "INSERT INTO grp (id) VALUES (20) RETURNING *", "INSERT INTO grp VALUES (21, DEFAULT) RETURNING *", "INSERT INTO grp DEFAULT VALUES", "remote: SELECT * FROM s.grp ORDER BY id")
script("insert_conflict", "INSERT INTO grp VALUES (1, 'x') ON CONFLICT DO NOTHING RETURNING *", "INSERT INTO grp VALUES (1, 'x'), (30, 'y') ON CONFLICT DO NOTHING RETURNING *", "INSERT INTO grp VALUES (1, 'x') ON CONFLICT (id) DO NOTHING",
       "INSERT INTO grp VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET label = 'z'", "INSERT INTO grp VALUES (1, 'x')")
for size in (1, 10, 100, 1000):
    script(f"batch_{size}", f"ALTER SERVER there OPTIONS (ADD batch_size '{size}')", "EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO item (id, name) SELECT i, 'n' || i FROM generate_series(1001, 1095) AS i", "INSERT INTO item (id, name) SELECT i, 'n' || i FROM generate_series(1001, 1095) AS i",
           "INSERT INTO item (id, name) SELECT i, 'r' || i FROM generate_series(2001, 2012) AS i RETURNING id", "INSERT INTO item (id) SELECT i FROM generate_series(990, 1010) AS i", "INSERT INTO item (id) SELECT i FROM generate_series(990, 1010) AS i ON CONFLICT DO NOTHING",
           "remote: SELECT count(*), sum(id), count(name), max(name) FROM s.item")
script("batch_of_many_columns", "remote: CREATE TABLE s.wide (" + ", ".join(f"c{i} int" for i in range(200)) + ")", "IMPORT FOREIGN SCHEMA s LIMIT TO (wide) FROM SERVER there INTO public", "ALTER FOREIGN TABLE wide OPTIONS (ADD batch_size '1000')",
       "INSERT INTO wide SELECT " + ", ".join(f"i + {i}" for i in range(200)) + " FROM generate_series(1, 700) AS i", "remote: SELECT count(*), sum(c0), sum(c199) FROM s.wide")
script("update_direct", "EXPLAIN (VERBOSE, COSTS OFF) UPDATE item SET price = price * 2, name = upper(name) WHERE id < 3", "UPDATE item SET price = price * 2, name = upper(name) WHERE id < 3", "UPDATE item SET flag = NOT flag, made = made + 1 WHERE id = 4 RETURNING id, flag, made", "UPDATE item SET (grp, name) = (9, 'pair') WHERE id = 5 RETURNING *",
       "UPDATE item SET tags[1] = 'new', data = data || '{\"n\": 1}' WHERE id = 6 RETURNING tags, data", "UPDATE item SET name = DEFAULT WHERE id = 7 RETURNING name", "UPDATE item SET price = -1 WHERE id = 8", "remote: SELECT id, grp, name, price FROM s.item WHERE id < 9 ORDER BY id")
script("update_by_ctid", "EXPLAIN (VERBOSE, COSTS OFF) UPDATE item SET name = 'u' WHERE id = not_shipped(3)", "UPDATE item SET name = 'u' WHERE id = not_shipped(3)", "UPDATE item SET price = not_shipped(id) WHERE id < 6 RETURNING id, name, price", "UPDATE item SET id = id + 1000 WHERE id > not_shipped(95)", "remote: SELECT id, name, price FROM s.item WHERE id < 6 OR id > 95 ORDER BY id")
script("update_from", "EXPLAIN (VERBOSE, COSTS OFF) UPDATE item SET name = g.label FROM grp g WHERE g.id = item.grp AND item.id < 5", "UPDATE item SET name = g.label FROM grp g WHERE g.id = item.grp AND item.id < 5 RETURNING item.id, item.name, g.*", "UPDATE item SET name = l.x FROM (VALUES (7, 'seven'), (8, 'eight')) l(a, x) WHERE l.a = item.id RETURNING id, name",
       "UPDATE item SET name = g.label FROM grp g LEFT JOIN item other ON other.id = g.id WHERE g.id = item.grp AND item.id = 9 RETURNING item.*, g.label", "remote: SELECT id, name FROM s.item WHERE id < 10 ORDER BY id")
script("delete_direct", "EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM item WHERE grp = 1", "DELETE FROM item WHERE grp = 1", "DELETE FROM item WHERE id = 2 RETURNING *", "remote: SELECT count(*) FROM s.item", "DELETE FROM item RETURNING 1 AS one, id = 3", "remote: SELECT count(*) FROM s.item")
script("delete_by_ctid", "EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM item WHERE id = not_shipped(7)", "DELETE FROM item WHERE id = not_shipped(7)", "DELETE FROM item WHERE id > not_shipped(98) RETURNING id, name", "DELETE FROM item WHERE grp = not_shipped(0)", "remote: SELECT count(*), sum(id) FROM s.item")
script("delete_using", "EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM item USING grp g WHERE g.id = item.grp AND g.label = 'g2'", "DELETE FROM item USING grp g WHERE g.id = item.grp AND g.label = 'g2'", "DELETE FROM item USING (VALUES (1), (4)) l(a) WHERE l.a = item.id RETURNING id, l.a", "remote: SELECT count(*) FROM s.item")
script("trigger_local", "CREATE TABLE seen (what text, id int)", "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (TG_WHEN || ' ' || TG_OP, coalesce(NEW.id, OLD.id)); IF TG_WHEN = 'BEFORE' AND TG_OP <> 'DELETE' THEN NEW.label := NEW.label || '!'; END IF; RETURN coalesce(NEW, OLD); END $$",
       "CREATE TRIGGER t1 BEFORE INSERT OR UPDATE OR DELETE ON grp FOR EACH ROW EXECUTE FUNCTION note()", "CREATE TRIGGER t2 AFTER INSERT OR UPDATE OR DELETE ON grp FOR EACH ROW EXECUTE FUNCTION note()", "INSERT INTO grp VALUES (50, 'a')", "UPDATE grp SET label = 'b' WHERE id > 1", "DELETE FROM grp WHERE id = 2",
       "SELECT * FROM seen ORDER BY 1, 2", "remote: SELECT * FROM s.grp ORDER BY id")
script("trigger_remote", "remote: CREATE FUNCTION s.stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.label := coalesce(NEW.label, '') || '!'; RETURN NEW; END $$", "remote: CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON s.grp FOR EACH ROW EXECUTE FUNCTION s.stamp()", "INSERT INTO grp VALUES (51, 'x') RETURNING *",
       "UPDATE grp SET id = 52 WHERE id = 51 RETURNING *", "UPDATE grp SET label = 'y' WHERE id = not_shipped(52) RETURNING *", "UPDATE grp SET label = repeat('y', 20) WHERE id = 52")
script("generated", "CREATE SCHEMA imported", "IMPORT FOREIGN SCHEMA special LIMIT TO (generated) FROM SERVER there INTO imported", "INSERT INTO imported.generated (a) VALUES (3), (4) RETURNING *", "UPDATE imported.generated SET a = 10 WHERE a = 3 RETURNING *", "INSERT INTO imported.generated VALUES (1, 5)", "SELECT * FROM imported.generated ORDER BY a", "remote: SELECT * FROM special.generated ORDER BY a")
script("copy", "COPY grp FROM PROGRAM 'printf \"60\\tsixty\\n61\\t\\\\\\\\N\\n\"'", "COPY (SELECT * FROM grp) TO PROGRAM 'cat > /dev/null'", "remote: SELECT * FROM s.grp ORDER BY id", "ALTER FOREIGN TABLE grp OPTIONS (ADD batch_size '7')", "COPY grp FROM PROGRAM 'for i in $(seq 100 130); do printf \"$i\\tn$i\\n\"; done'", "remote: SELECT count(*), max(label) FROM s.grp",
       "COPY grp FROM PROGRAM 'printf \"1\\tagain\\n\"'")
script("truncate", "TRUNCATE item", "remote: SELECT count(*) FROM s.item", "remote: CREATE TABLE s.child (id int REFERENCES s.grp)", "TRUNCATE grp", "TRUNCATE grp CASCADE", "remote: SELECT count(*) FROM s.grp", "ALTER FOREIGN TABLE grp OPTIONS (ADD truncatable 'false')", "TRUNCATE grp")
script("truncate_restart", "remote: CREATE TABLE s.counted (id serial, a int)", "CREATE FOREIGN TABLE counted (a int) SERVER there OPTIONS (schema_name 's')", "INSERT INTO counted VALUES (1), (2)", "TRUNCATE counted RESTART IDENTITY", "INSERT INTO counted VALUES (3)", "remote: SELECT * FROM s.counted", "BEGIN", "TRUNCATE counted, item", "ROLLBACK", "remote: SELECT count(*) FROM s.counted")
script("not_updatable", "ALTER SERVER there OPTIONS (ADD updatable 'false')", "INSERT INTO grp VALUES (70)", "DELETE FROM grp", "ALTER FOREIGN TABLE grp OPTIONS (ADD updatable 'true')", "DELETE FROM grp WHERE id = 1")
script("check_option", "CREATE VIEW low AS SELECT * FROM grp WHERE id < 100 WITH CHECK OPTION", "INSERT INTO low VALUES (80, 'ok')", "INSERT INTO low VALUES (180, 'no')", "UPDATE low SET id = 200 WHERE id = 80", "SELECT * FROM low ORDER BY id")
script("with_writes", "WITH gone AS (DELETE FROM item WHERE id < 4 RETURNING *), new AS (INSERT INTO grp SELECT id + 500, name FROM gone RETURNING *) SELECT (SELECT count(*) FROM gone), count(*) FROM new", "remote: SELECT * FROM s.grp ORDER BY id")
script("merge", "MERGE INTO grp USING (VALUES (1, 'm')) v(a, b) ON v.a = grp.id WHEN MATCHED THEN UPDATE SET label = b", "CREATE TABLE target (id int, label text)", "MERGE INTO target USING grp ON grp.id = target.id WHEN NOT MATCHED THEN INSERT VALUES (grp.id, grp.label)", "SELECT * FROM target ORDER BY id")

# Errors of the remote server.
for name, statement in {
        "check": "UPDATE item SET price = -5 WHERE id = 1", "unique": "INSERT INTO item (id) VALUES (1)", "not_null": "INSERT INTO item (name) VALUES ('x')", "foreign_key": "INSERT INTO child VALUES (77)", "division": "SELECT id FROM item WHERE 1 / (id - id) = 1", "too_long": "UPDATE grp SET label = repeat('x', 99)",
        "out_of_range": "UPDATE item SET price = 1e20 WHERE id = 1", "permission": "SELECT * FROM secret", "raised": "INSERT INTO raising VALUES (1)", "domain": "INSERT INTO domained VALUES (-1)", "cast": "SELECT id FROM item WHERE name::int = 1", "recursion": "SELECT * FROM failing_view", "no_partition": "INSERT INTO by_range VALUES (100000)",
        "generated": "UPDATE generated SET b = 1", "identity": "INSERT INTO identity VALUES (1)", "read_only_view": "DELETE FROM counted_view", "delete_referenced": "DELETE FROM grp WHERE id = 1"}.items():
    script(f"error_{name}",
           "remote: CREATE TABLE s.child (id int CONSTRAINT to_grp REFERENCES s.grp); INSERT INTO s.child VALUES (1); CREATE TABLE s.secret (a int); CREATE TABLE s.raising (a int); CREATE TABLE s.domained (a s.above_zero); CREATE TABLE s.identity (a int GENERATED ALWAYS AS IDENTITY); CREATE TABLE s.generated (a int, b int GENERATED ALWAYS AS (a + 1) STORED)",
           "remote: CREATE VIEW s.failing_view AS SELECT 1 / (id - 1) AS a FROM s.grp; CREATE VIEW s.counted_view AS SELECT count(*) FROM s.grp",
           "remote: CREATE FUNCTION s.raise() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'raised %', 1 USING ERRCODE = 'P0042', HINT = 'a hint', DETAIL = 'a detail', TABLE = 't', COLUMN = 'c', SCHEMA = 'sc', CONSTRAINT = 'co'; END $$; CREATE TRIGGER raise BEFORE INSERT ON s.raising FOR EACH ROW EXECUTE FUNCTION s.raise()",
           "IMPORT FOREIGN SCHEMA s LIMIT TO (secret, raising, failing_view, child, counted_view) FROM SERVER there INTO public", "CREATE FOREIGN TABLE domained (a int) SERVER there OPTIONS (schema_name 's')", "CREATE FOREIGN TABLE identity (a int) SERVER there OPTIONS (schema_name 's')",
           "CREATE FOREIGN TABLE generated (a int, b int) SERVER there OPTIONS (schema_name 's')", *(["ALTER USER MAPPING FOR postgres SERVER there OPTIONS (SET user 'fdw_guest')"] if name == "permission" else []), statement, "SELECT count(*) FROM item WHERE id = 1")

# Transactions.
script("commit", "BEGIN", "INSERT INTO grp VALUES (10, 'a')", "remote: SELECT count(*) FROM s.grp", "UPDATE grp SET label = 'b' WHERE id = 10", "SELECT * FROM grp ORDER BY id", "COMMIT", "remote: SELECT * FROM s.grp ORDER BY id")
script("rollback", "BEGIN", "DELETE FROM item", "SELECT count(*) FROM item", "ROLLBACK", "SELECT count(*) FROM item")
script("savepoints", "BEGIN", "INSERT INTO grp VALUES (10, 'a')", "SAVEPOINT one", "INSERT INTO grp VALUES (11, 'b')", "SAVEPOINT two", "INSERT INTO grp VALUES (12, 'c')", "ROLLBACK TO two", "INSERT INTO grp VALUES (13, 'd')", "RELEASE one", "SAVEPOINT three", "INSERT INTO grp VALUES (10, 'again')", "ROLLBACK TO three", "INSERT INTO grp VALUES (14, 'e')", "COMMIT", "remote: SELECT * FROM s.grp ORDER BY id")
script("savepoint_of_error", "BEGIN", "SELECT count(*) FROM grp", "SAVEPOINT one", "INSERT INTO grp VALUES (1, 'dup')", "SELECT 1", "ROLLBACK TO one", "INSERT INTO grp VALUES (15, 'ok')", "SAVEPOINT one", "SELECT 1 / 0", "ROLLBACK TO one", "COMMIT", "remote: SELECT * FROM s.grp ORDER BY id")
script("block_of_error", "DO $$ BEGIN INSERT INTO grp VALUES (16, 'x'); BEGIN INSERT INTO grp VALUES (17, 'y'); INSERT INTO grp VALUES (1, 'dup'); EXCEPTION WHEN unique_violation THEN INSERT INTO grp VALUES (18, left(SQLERRM, 20)); END; END $$", "remote: SELECT * FROM s.grp ORDER BY id")
script("repeatable", "BEGIN", "SELECT count(*) FROM grp", "remote: INSERT INTO s.grp VALUES (19, 'z')", "SELECT count(*) FROM grp", "COMMIT", "SELECT count(*) FROM grp")
script("serializable", "BEGIN ISOLATION LEVEL SERIALIZABLE", "SELECT count(*) FROM grp", "remote: INSERT INTO s.grp VALUES (19, 'z')", "SELECT count(*) FROM grp", "UPDATE grp SET label = 'own' WHERE id = 1", "COMMIT")
script("conflict", "BEGIN", "SELECT count(*) FROM grp", "remote: UPDATE s.grp SET label = 'theirs' WHERE id = 1", "UPDATE grp SET label = 'mine' WHERE id = 1", "ROLLBACK", "UPDATE grp SET label = 'mine' WHERE id = 1 RETURNING *")
script("read_only", "BEGIN READ ONLY", "SELECT count(*) FROM grp", "DELETE FROM grp", "ROLLBACK")
script("two_phases", "BEGIN", "SELECT count(*) FROM grp", "PREPARE TRANSACTION 'x'", "ROLLBACK", "SELECT count(*) FROM grp")
script("parallel_commit", "ALTER SERVER there OPTIONS (ADD parallel_commit 'true')", "ALTER SERVER there_too OPTIONS (ADD parallel_commit 'true')", "BEGIN", "INSERT INTO grp VALUES (20, 'p')", "SAVEPOINT a", "INSERT INTO grp_too VALUES (21, 'q')", "RELEASE a", "COMMIT", "SELECT * FROM grp ORDER BY id")
script("cursors", "BEGIN", "DECLARE a CURSOR FOR SELECT id FROM item ORDER BY id", "DECLARE b CURSOR FOR SELECT id FROM grp ORDER BY id", "FETCH 2 FROM a", "FETCH 1 FROM b", "FETCH 2 FROM a", "SAVEPOINT x", "FETCH 1 FROM b", "ROLLBACK TO x", "FETCH 1 FROM b", "MOVE 90 IN a", "FETCH ALL FROM a", "CLOSE a", "COMMIT")
script("cursor_scroll", "BEGIN", "DECLARE a SCROLL CURSOR WITH HOLD FOR SELECT id FROM item ORDER BY id", "FETCH 3 FROM a", "FETCH BACKWARD 1 FROM a", "FETCH LAST FROM a", "FETCH FIRST FROM a", "COMMIT", "FETCH 2 FROM a")
script("where_current", "BEGIN", "DECLARE a CURSOR FOR SELECT * FROM grp ORDER BY id FOR UPDATE", "FETCH 1 FROM a", "UPDATE grp SET label = 'current' WHERE CURRENT OF a", "ROLLBACK")
script("own_writes", "BEGIN", "INSERT INTO grp VALUES (30, 'own')", "SELECT * FROM grp WHERE id = 30", "UPDATE grp SET id = 31 WHERE id = 30", "SELECT count(*) FROM item i JOIN grp g ON true WHERE g.id = 31", "DELETE FROM grp WHERE id = 31", "COMMIT", "remote: SELECT count(*) FROM s.grp")
script("rescan_in_loop", "DO $$ DECLARE r record; n int := 0; BEGIN FOR r IN SELECT * FROM item ORDER BY id LOOP IF r.id % 25 = 0 THEN UPDATE item SET name = 'loop' WHERE id = r.id; END IF; n := n + 1; END LOOP; RAISE NOTICE '%', n; END $$", "SELECT id FROM item WHERE name = 'loop' ORDER BY id")

# How rows are had.
for size in (1, 3, 100, 10000):
    script(f"fetch_size_{size}", f"ALTER SERVER there OPTIONS (ADD fetch_size '{size}')", "SELECT sum(id), count(name) FROM item WHERE id <> not_shipped(0)", "SELECT a.id, b.id FROM item a JOIN grp b ON a.id = not_shipped(b.id) ORDER BY 1")
script("prepared", "PREPARE p (int) AS SELECT name FROM item WHERE id = $1", *["EXECUTE p (5)"] * 3, "SET plan_cache_mode = force_generic_plan", "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE p (6)", "EXECUTE p (6)", "EXECUTE p (NULL)", "PREPARE w (int, text) AS UPDATE item SET name = $2 WHERE id = $1 RETURNING id, name", "EXECUTE w (7, 'w')", "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE w (7, 'x')",
       "PREPARE j (date, numeric) AS SELECT i.id FROM item i JOIN grp g ON g.id = i.grp WHERE made = $1 OR price = $2 ORDER BY 1", "EXECUTE j ('2024-01-05', 1.25)")
script("parameters_of_types", "SET plan_cache_mode = force_generic_plan", "PREPARE t (text[], jsonb, bool, numeric, timestamptz, varchar) AS SELECT id FROM item WHERE tags = $1 OR data = $2 OR (flag = $3 AND price = $4) OR made = $5::date OR name = $6 ORDER BY id", "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE t ('{t1}', '{\"k\": 2}', true, 1.5, '2024-01-09', 'item 20')", "EXECUTE t ('{t1}', '{\"k\": 2}', true, 1.5, '2024-01-09', 'item 20')")
script("analyze", "ANALYZE item", "SELECT reltuples, relpages > 0 FROM pg_class WHERE oid = 'item'::regclass", "SELECT attname, null_frac, n_distinct, most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE tablename = 'item' ORDER BY attname", "ANALYZE VERBOSE grp (id)", "EXPLAIN SELECT * FROM grp WHERE false")
script("analyze_large", "remote: CREATE TABLE s.large AS SELECT i AS id, i % 4 AS m FROM generate_series(1, 50000) AS i", "IMPORT FOREIGN SCHEMA s LIMIT TO (large) FROM SERVER there INTO public", "ANALYZE large", "SELECT round(reltuples) FROM pg_class WHERE oid = 'large'::regclass", "SELECT n_distinct FROM pg_stats WHERE tablename = 'large' AND attname = 'm'", "SELECT count(*), sum(id) FROM large WHERE id <> not_shipped(0)")
script("explain_analyze", "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) SELECT id FROM item WHERE id < 5", "EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF, COSTS OFF) DELETE FROM item WHERE id < 5 RETURNING id")
script("estimates_of_rows", "ALTER SERVER there OPTIONS (ADD use_remote_estimate 'true')", "CREATE FUNCTION planned(query text) RETURNS float8 LANGUAGE plpgsql AS $$ DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan; RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows'; END $$", "remote: ANALYZE s.item", "SELECT planned('SELECT * FROM item')", "SELECT planned('SELECT * FROM item WHERE id = 5')", "SELECT planned('SELECT grp FROM item GROUP BY grp') BETWEEN 1 AND 50")
script("estimates_of_writes", "ALTER SERVER there OPTIONS (ADD use_remote_estimate 'true')", "UPDATE item SET name = 'e' WHERE id < 3 RETURNING id", "DELETE FROM item USING grp g WHERE g.id = item.grp AND item.id < 9", "INSERT INTO grp SELECT id + 600, name FROM item WHERE id < 20", "SELECT count(*) FROM item", "SELECT i.id FROM item i WHERE i.id = ANY (SELECT id FROM grp) ORDER BY 1",
       "SELECT l.a, i.name FROM generate_series(10, 14) l(a) JOIN item i ON i.id = l.a ORDER BY 1", "PREPARE e (int) AS SELECT id FROM item WHERE id = $1", "SET plan_cache_mode = force_generic_plan", "EXECUTE e (20)")

# Partitions and children that are foreign.
PARTITIONS = ["remote: CREATE TABLE s.p1 (id int, v text); CREATE TABLE s.p2 (id int, v text)", "CREATE TABLE parent (id int, v text) PARTITION BY RANGE (id)", "CREATE FOREIGN TABLE p1 PARTITION OF parent FOR VALUES FROM (0) TO (100) SERVER there OPTIONS (schema_name 's')",
              "CREATE FOREIGN TABLE p2 PARTITION OF parent FOR VALUES FROM (100) TO (200) SERVER there_too OPTIONS (schema_name 's')", "CREATE TABLE p3 PARTITION OF parent FOR VALUES FROM (200) TO (300)", "INSERT INTO parent SELECT i, 'v' || i FROM generate_series(0, 290, 10) AS i"]
script("partitions", *PARTITIONS, "SELECT tableoid::regclass, count(*), sum(id) FROM parent GROUP BY 1 ORDER BY 1", "plan: SELECT * FROM parent WHERE id = 50", "UPDATE parent SET v = 'u' WHERE id IN (50, 150, 250) RETURNING *", "UPDATE parent SET id = id - 101 WHERE id = 250", "UPDATE parent SET id = 105 WHERE id = 210", "UPDATE parent SET id = 205 WHERE id = 10",
       "DELETE FROM parent WHERE id % 20 = 0 RETURNING id", "SELECT tableoid::regclass, * FROM parent ORDER BY id", "remote: SELECT * FROM s.p1 ORDER BY id")
script("partitions_async", *PARTITIONS, "ALTER SERVER there OPTIONS (ADD async_capable 'true')", "ALTER SERVER there_too OPTIONS (ADD async_capable 'true')", "plan: SELECT * FROM parent WHERE id % 100 = 10 ORDER BY id", "plan: SELECT count(*) FROM parent", "SELECT count(*), sum(a.id) FROM parent a JOIN parent b USING (id)", "SELECT * FROM p1 WHERE id < 20 UNION ALL SELECT * FROM p2 WHERE id < 120 ORDER BY 1",
       "SELECT * FROM parent WHERE id = (SELECT min(id) + 30 FROM parent)", "SELECT id FROM parent ORDER BY id LIMIT 3", "BEGIN", "INSERT INTO parent VALUES (5, 'in')", "SELECT count(*) FROM parent", "ROLLBACK")
script("partitions_aggregate", *PARTITIONS, "SET enable_partitionwise_aggregate = on; SET enable_partitionwise_join = on", "plan: SELECT id % 3, count(*), max(v) FROM parent GROUP BY id % 3 ORDER BY 1", "plan: SELECT id, count(*) FROM parent WHERE id < 30 GROUP BY id ORDER BY id", "plan: SELECT a.id, b.v FROM parent a JOIN parent b ON a.id = b.id WHERE a.id < 120 AND a.id > 80 ORDER BY 1")
script("partitions_batch", *PARTITIONS, "ALTER FOREIGN TABLE p1 OPTIONS (ADD batch_size '10')", "ALTER FOREIGN TABLE p2 OPTIONS (ADD batch_size '3')", "INSERT INTO parent SELECT i, 'b' FROM generate_series(0, 299) AS i", "COPY parent FROM PROGRAM 'for i in $(seq 0 150); do printf \"$i\\tc\\n\"; done'", "SELECT tableoid::regclass, v = 'c', count(*) FROM parent GROUP BY 1, 2 ORDER BY 1, 2", "TRUNCATE parent", "SELECT count(*) FROM parent")
script("inheritance", "CREATE TABLE base (id int, label varchar(20))", "INSERT INTO base VALUES (900, 'local')", "ALTER FOREIGN TABLE grp INHERIT base", "SELECT tableoid::regclass, * FROM base ORDER BY id", "UPDATE base SET label = 'all' RETURNING id", "DELETE FROM base WHERE id = 1", "SELECT * FROM ONLY base", "SELECT * FROM base ORDER BY id FOR UPDATE")

# Connections.
script("connections", "SELECT * FROM postgres_fdw_get_connections()", "SELECT count(*) FROM grp", "SELECT * FROM postgres_fdw_get_connections()", "SELECT postgres_fdw_disconnect('there')", "SELECT postgres_fdw_disconnect('there')", "SELECT count(*) FROM grp", "SELECT count(*) FROM grp_too", "SELECT postgres_fdw_disconnect_all()", "SELECT * FROM postgres_fdw_get_connections()", "BEGIN", "SELECT count(*) FROM grp", "SELECT postgres_fdw_disconnect('there')", "COMMIT")
script("connection_not_kept", "ALTER SERVER there OPTIONS (ADD keep_connections 'off')", "SELECT count(*) FROM grp", "SELECT * FROM postgres_fdw_get_connections()", "SELECT count(*) FROM grp")
script("connection_ended", "ALTER SERVER there OPTIONS (ADD application_name 'fdw_ended')", "SELECT count(*) FROM grp", "remote: SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'fdw_ended'", "SELECT count(*) FROM grp", "BEGIN", "SELECT count(*) FROM grp", "remote: SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'fdw_ended'", "SELECT count(*) FROM grp", "ROLLBACK", "SELECT count(*) FROM grp")
script("connection_changed", "SELECT count(*) FROM grp", "ALTER SERVER there OPTIONS (ADD application_name 'fdw_new')", "SELECT count(*) FROM grp", "remote: SELECT count(*) FROM pg_stat_activity WHERE application_name = 'fdw_new'")
script("connection_nowhere", "ALTER SERVER there OPTIONS (SET dbname 'no_such_database')", "SELECT count(*) FROM grp", "ALTER SERVER there OPTIONS (SET port '1')", "SELECT count(*) FROM grp")
script("application_name", "remote: CREATE VIEW s.names AS SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()", "IMPORT FOREIGN SCHEMA s LIMIT TO (names) FROM SERVER there INTO public", "SELECT * FROM names", "SET postgres_fdw.application_name = 'of %u in %d, %%'", "SELECT postgres_fdw_disconnect_all()", "SELECT * FROM names")
script("session_settings", "remote: CREATE VIEW s.settings AS SELECT name, setting FROM pg_settings WHERE name IN ('search_path', 'TimeZone', 'DateStyle', 'IntervalStyle', 'extra_float_digits', 'client_encoding', 'transaction_isolation')", "IMPORT FOREIGN SCHEMA s LIMIT TO (settings) FROM SERVER there INTO public", "SELECT * FROM settings ORDER BY name COLLATE \"C\"")
script("options_of_server", "remote: CREATE VIEW s.settings AS SELECT current_setting('work_mem') AS a, current_setting('statement_timeout') AS b, current_setting('my.own', true) AS c", "IMPORT FOREIGN SCHEMA s LIMIT TO (settings) FROM SERVER there INTO public", "ALTER SERVER there OPTIONS (ADD options '-c work_mem=7MB -c statement_timeout=9000 -c my.own=x')", "SELECT * FROM settings")
script("statement_timeout", "remote: CREATE VIEW s.slow AS SELECT 1 AS a FROM pg_sleep(60)", "IMPORT FOREIGN SCHEMA s LIMIT TO (slow) FROM SERVER there INTO public", "SET statement_timeout = '800ms'", "SELECT * FROM slow", "SELECT count(*) FROM grp", "BEGIN", "INSERT INTO grp VALUES (40, 'c')", "SAVEPOINT a", "SELECT * FROM slow", "ROLLBACK TO a", "COMMIT", "SELECT * FROM grp ORDER BY id")
script("remote_timeout", "remote: CREATE VIEW s.slow AS SELECT 1 AS a FROM pg_sleep(60)", "IMPORT FOREIGN SCHEMA s LIMIT TO (slow) FROM SERVER there INTO public", "ALTER SERVER there OPTIONS (ADD options '-c statement_timeout=500')", "SELECT * FROM slow", "SELECT count(*) FROM grp")
script("user_of_mapping", "remote: CREATE VIEW s.users AS SELECT current_user AS a, session_user AS b", "remote: GRANT SELECT ON s.users TO fdw_guest", "IMPORT FOREIGN SCHEMA s LIMIT TO (users) FROM SERVER there INTO public", "SELECT * FROM users", "ALTER USER MAPPING FOR postgres SERVER there OPTIONS (SET user 'fdw_guest')", "SELECT * FROM users", "SELECT * FROM grp")
script("user_without_password", "CREATE ROLE fdw_local", "GRANT USAGE ON SCHEMA public TO fdw_local; GRANT USAGE ON FOREIGN SERVER there TO fdw_local; GRANT ALL ON grp TO fdw_local", "SET ROLE fdw_local", "SELECT count(*) FROM grp", "RESET ROLE", "CREATE USER MAPPING FOR fdw_local SERVER there OPTIONS (user 'fdw_guest')", "SET ROLE fdw_local", "SELECT count(*) FROM grp", "RESET ROLE", "ALTER USER MAPPING FOR fdw_local SERVER there OPTIONS (ADD password 'x')", "SET ROLE fdw_local", "SELECT count(*) FROM grp", "RESET ROLE",
       "ALTER USER MAPPING FOR fdw_local SERVER there OPTIONS (ADD password_required 'false', SET user 'postgres')", "SET ROLE fdw_local", "SELECT count(*) FROM grp", "RESET ROLE", "DROP OWNED BY fdw_local", "DROP ROLE fdw_local")
script("extensions_shipped", "CREATE EXTENSION hstore", "remote: CREATE EXTENSION hstore", "remote: CREATE TABLE s.hs (id int, h hstore); INSERT INTO s.hs VALUES (1, 'a=>1'), (2, 'b=>2')", "CREATE FOREIGN TABLE hs (id int, h hstore) SERVER there OPTIONS (schema_name 's')", "plan: SELECT id FROM hs WHERE h -> 'a' = '1'", "ALTER SERVER there OPTIONS (ADD extensions 'hstore')", "plan: SELECT id FROM hs WHERE h -> 'a' = '1'", "SELECT h FROM hs ORDER BY id")
for value in ("any", "read-write", "read-only", "primary", "standby", "prefer-standby"):
    script(f"session_attrs_{value}", f"ALTER SERVER there OPTIONS (ADD target_session_attrs '{value}')", "SELECT count(*) FROM grp")
script("local_timezone", "remote: CREATE TABLE s.times (a timestamptz, b text); INSERT INTO s.times VALUES ('2024-07-01 12:00+00', 'x')", "IMPORT FOREIGN SCHEMA s LIMIT TO (times) FROM SERVER there INTO public", "SET timezone = 'America/New_York'; SET datestyle = 'German, DMY'; SET intervalstyle = 'iso_8601'", "SELECT a::text FROM times", "plan: SELECT b FROM times WHERE a = '01.07.2024 08:00:00'", "INSERT INTO times VALUES ('02.07.2024 08:00:00', 'y')", "remote: SELECT a::text, b FROM s.times ORDER BY b")
script("lock_table", "BEGIN", "LOCK TABLE item IN SHARE MODE", "COMMIT", "BEGIN", "SELECT id FROM item WHERE id = 1 FOR UPDATE", "remote: SET lock_timeout = '300ms'", "remote: UPDATE s.item SET name = 'held' WHERE id = 1", "COMMIT", "remote: UPDATE s.item SET name = 'free' WHERE id = 1")
script("materialized", "CREATE MATERIALIZED VIEW m AS SELECT grp, sum(price) AS total FROM item GROUP BY grp", "UPDATE item SET price = 0 WHERE grp = 1", "REFRESH MATERIALIZED VIEW m", "SELECT * FROM m ORDER BY grp", "CREATE TABLE t AS SELECT * FROM item WHERE id < 4", "SELECT count(*) FROM t")

REMOTE_SETUP = """
DROP SCHEMA IF EXISTS s, special CASCADE; DROP EXTENSION IF EXISTS hstore; DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO public; CREATE SCHEMA s; CREATE SCHEMA special;
DO $$ BEGIN CREATE ROLE fdw_guest LOGIN; EXCEPTION WHEN duplicate_object THEN END $$; GRANT USAGE ON SCHEMA s TO fdw_guest;
CREATE TYPE public.mood AS ENUM ('sad', 'happy'); CREATE TYPE public.pair AS (a int, b text); CREATE DOMAIN public.positive AS int CHECK (VALUE > 0); CREATE DOMAIN s.above_zero AS int CONSTRAINT above CHECK (VALUE > 0);
CREATE TABLE s.item (id int PRIMARY KEY, grp int, name text, price numeric(10,2) CONSTRAINT price_check CHECK (price >= 0), made date, flag bool, tags text[], data jsonb);
INSERT INTO s.item SELECT i, i % 5, CASE WHEN i % 9 <> 0 THEN 'item ' || i END, i + i % 4 * 0.25, date '2024-01-01' + i % 30, i % 2 = 0, ARRAY['t' || i % 6], jsonb_build_object('k', i) FROM generate_series(1, 100) AS i;
CREATE TABLE s.grp (id int PRIMARY KEY, label varchar(20) DEFAULT 'none');
INSERT INTO s.grp VALUES (1, 'g1'), (2, 'g2'), (3, 'g3'), (9, 'g9');
CREATE VIEW s.cheap AS SELECT id, name FROM s.item WHERE price < 4;
CREATE TABLE s.by_range (id int, v text) PARTITION BY RANGE (id); CREATE TABLE s.by_range_1 PARTITION OF s.by_range FOR VALUES FROM (0) TO (100); CREATE TABLE s.by_range_2 PARTITION OF s.by_range FOR VALUES FROM (100) TO (200);
CREATE TABLE special.defaults (a int DEFAULT 5, b text NOT NULL DEFAULT 'it''s', c date DEFAULT '2024-01-01', d timestamptz DEFAULT now(), e numeric(5, 2) DEFAULT 1 + 0.5, f int[] DEFAULT '{1,2}', g bool DEFAULT true NOT NULL, h jsonb DEFAULT '{"a": 1}', i varchar(9) DEFAULT upper('x'), j text DEFAULT CURRENT_USER);
CREATE TABLE special.collated (a text COLLATE "C", b varchar(5) COLLATE "POSIX", c text, d text COLLATE "en-x-icu", e name);
CREATE TABLE special.generated (a int, b int GENERATED ALWAYS AS (a * 2) STORED, c text GENERATED ALWAYS AS (upper('x' || a::text)) STORED);
"""
LOCAL_SETUP = f"""
CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE FUNCTION not_shipped(int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN $1; END $$;
CREATE EXTENSION postgres_fdw;
CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({OPTIONS});
CREATE SERVER there_too FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({OPTIONS});
CREATE USER MAPPING FOR postgres SERVER there OPTIONS (user '{REMOTE_WORDS['user']}');
CREATE USER MAPPING FOR postgres SERVER there_too OPTIONS (user '{REMOTE_WORDS['user']}');
CREATE FOREIGN TABLE grp_too (id int, label varchar(20)) SERVER there_too OPTIONS (schema_name 's', table_name 'grp');
IMPORT FOREIGN SCHEMA s FROM SERVER there INTO public;
"""
CLEAN = "DROP EXTENSION IF EXISTS postgres_fdw CASCADE; DROP EXTENSION IF EXISTS hstore CASCADE; DROP SCHEMA IF EXISTS imported CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public"


def main():
    chosen = sys.argv[3] if len(sys.argv) > 3 else ""
    for name, steps in TESTS.items():
        if not re.search(chosen, name):
            continue
        try:
            with psycopg.connect(remote_place, autocommit=True) as remote, psycopg.connect(local_place, autocommit=True) as local:
                local.execute("SET client_min_messages = error; SET statement_timeout = '60s'; " + CLEAN)
                remote.execute("SET client_min_messages = error; SET statement_timeout = '30s'; SET lock_timeout = '10s'; " + REMOTE_SETUP)
                local.execute(LOCAL_SETUP)
                value = json.loads(json.dumps(run(steps, local, remote), default=str))
                print(json.dumps({"name": name, "value": value}), flush=True)
        except Exception as wrong:  # noqa: BLE001: any failure is one
            print(json.dumps({"name": name, "error": f"{type(wrong).__name__}: {wrong}"}), flush=True)


if __name__ == "__main__":
    main()
