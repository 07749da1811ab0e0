"""What users of pgbench do: its tables made by each of its steps, its own scripts in each mode of queries, scripts of theirs with
variables, results, conditions and pipelines, retries, rates, logs. Speed is not compared: what is seen are the exit status, the counts
of transactions, errors, and what the tables hold afterwards. Prints for each test a line of JSON: its name and what it has seen, which
suite.py compares."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import psycopg

binary, place = sys.argv[1:3]
WORDS = dict(word.split("=", 1) for word in place.split())
TESTS = {}
MODES = ("simple", "extended", "prepared")

# Numbers that tell of time, and lines that do.
TIMED = r"^( - )?(latency|average connection time|initial connection time|tps|done in|progress:|pgbench \(|statement latencies|rate limit schedule lag|maximum number of tries|number of transactions (above|skipped)| *[\d.]+ +\d)|elapsed|^vacuuming|^$"


def pgbench(*arguments, script=None):
    """Exit status and what is printed, but for times."""
    with tempfile.TemporaryDirectory(prefix="ouzel-pgbench-") as home:
        if script is not None:
            path = os.path.join(home, "script")
            with open(path, "w") as file:
                file.write(script)
            arguments = ["-f", path, *arguments]
        environment = {**os.environ, "PGHOST": WORDS["host"], "PGPORT": WORDS["port"], "PGUSER": WORDS["user"], "PGDATABASE": WORDS["dbname"]}
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, cwd=home, env=environment, timeout=300)
        logs = sum(sum(1 for _ in open(log)) for log in glob.glob(f"{home}/pgbench_log.*"))
        lines = [line.replace(home, "").replace(f"port {WORDS['port']}", "port") for line in (done.stdout + done.stderr).splitlines() if not re.search(TIMED, line)]
        lines = [re.sub(r"\r.*|\d+ of \d+ tuples.*|tps = [\d.]+", "", line) for line in lines]
        return [done.returncode, sorted(set(filter(None, lines)))] + ([logs] if "-l" in arguments else [])


def query(statement):
    with psycopg.connect(place, autocommit=True) as connection:
        return connection.execute(statement).fetchall()


def tables():
    """What pgbench has made."""
    found = [query("SELECT relname, relkind, relpersistence, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname COLLATE \"C\""),
             query("SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2"),
             query("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"),
             query("SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY 1"),
             query("SELECT table_name, column_name, data_type, character_maximum_length, is_nullable FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position")]
    names = {row[0] for row in found[0]}
    for name, sums in {"accounts": "sum(aid), sum(bid), sum(abalance), min(filler), max(length(filler))", "branches": "sum(bid), sum(bbalance), max(filler)", "tellers": "sum(tid), sum(bid), sum(tbalance)", "history": "sum(delta), max(filler)"}.items():
        if f"pgbench_{name}" in names:
            found.append([name, query(f"SELECT count(*), {sums} FROM pgbench_{name}")])
    return found


def balances():
    return query("SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(bbalance) FROM pgbench_branches), (SELECT sum(delta) FROM pgbench_history), (SELECT count(*) FROM pgbench_history)")


def initialized(*arguments):
    return pgbench("-i", "-q", *arguments)


# Tables made.
for name, arguments in {
        "plain": [], "scale_3": ["-s", "3"], "steps_dtg": ["-I", "dtg"], "steps_dtgvp": ["-I", "dtgvp"], "steps_dtgvpf": ["-I", "dtgvpf"], "steps_dtG": ["-I", "dtG"], "steps_dtGvpf": ["-I", "dtGvpf"], "steps_dtpgf": ["-I", "d t p g f"], "foreign_keys": ["--foreign-keys"],
        "foreign_keys_of_partitions": ["--foreign-keys", "--partitions=3"], "partitions_range": ["--partitions=3", "--partition-method=range"], "partitions_hash": ["--partitions=3", "--partition-method=hash"], "partitions_range_server": ["--partitions=4", "-I", "dtGvp"],
        "partitions_hash_keys": ["--partitions=2", "--partition-method=hash", "--foreign-keys", "-s", "2"], "unlogged": ["--unlogged-tables"], "unlogged_partitions": ["--unlogged-tables", "--partitions=2"], "fillfactor": ["--fillfactor=70"], "fillfactor_partitions": ["-F", "80", "--partitions=2"],
        "tablespace": ["--tablespace=pg_default", "--index-tablespace=pg_default"], "no_vacuum": ["-n"], "steps_wrong": ["-I", "dtx"], "partitions_wrong": ["--partition-method=hash"], "keys_without_tables": ["-I", "p"], "data_without_tables": ["-I", "g"], "data_without_tables_server": ["-I", "G"]}.items():
    TESTS[f"init_{name}"] = lambda arguments=arguments: [initialized(*arguments), tables()]


def again():
    return [initialized(), initialized("-I", "t"), initialized("-I", "p"), initialized("-I", "f"), initialized("-I", "f"), initialized("-I", "g"), initialized("--partitions=2"), initialized("-I", "v"), initialized("-I", "d"), tables()]


def unquiet():
    return [pgbench("-i"), balances()]


TESTS["init_again"], TESTS["init_unquiet"] = again, unquiet


# Its own scripts.
def builtin(mode, script, *arguments):
    made = initialized(*arguments)
    return [made, pgbench("-b", script, "-M", mode, "-n", "-c", "3", "-t", "20", "--random-seed=42"), balances(), query("SELECT count(*) FROM pgbench_accounts WHERE abalance <> 0")]


for mode in MODES:
    for name in ("tpcb-like", "simple-update", "select-only"):
        TESTS[f"builtin_{name}_{mode}"] = lambda mode=mode, name=name: builtin(mode, name)
    for method in ("range", "hash"):
        TESTS[f"builtin_of_{method}_partitions_{mode}"] = lambda mode=mode, method=method: builtin(mode, "tpcb-like", "--partitions=3", f"--partition-method={method}", "--foreign-keys")


def run(*arguments, steps=()):
    """A run over tables of pgbench's."""
    made = initialized("-s", "2", *steps)
    return [made, pgbench("--random-seed=7", *arguments), balances()]


for name, arguments in {
        "vacuum": ["-t", "5"], "vacuum_all": ["-v", "-t", "5"], "mixed": ["-n", "-b", "select-only@3", "-b", "simple@1", "-t", "40"], "threads": ["-n", "-c", "4", "-j", "2", "-t", "20"], "reconnects": ["-n", "-C", "-S", "-t", "8", "-c", "2"], "rate": ["-n", "-S", "-R", "200", "-t", "40"],
        "rate_and_limit": ["-n", "-S", "-R", "100", "-L", "5000", "-t", "30"], "logged": ["-n", "-S", "-l", "-t", "25", "-c", "2"], "logged_with_prefix": ["-n", "-N", "-l", "--log-prefix=pgbench_log.own", "-t", "9"], "latencies": ["-n", "-r", "-t", "5"], "progress": ["-n", "-S", "-P", "1", "-t", "20"],
        "scale_given": ["-n", "-s", "9", "-S", "-t", "3"], "failures_detailed": ["-n", "-t", "20", "-c", "2", "--failures-detailed", "--max-tries=10"], "no_such_script": ["-n", "-b", "nothing"], "vacuum_of_nothing": ["-f", "/dev/null"], "prepared_pipes": ["-n", "-M", "prepared", "-N", "-t", "50", "-c", "4"]}.items():
    TESTS[f"run_{name}"] = lambda arguments=arguments: run(*arguments)
TESTS["run_without_tables"] = lambda: [pgbench("-t", "1"), pgbench("-n", "-S", "-t", "1")]
TESTS["run_no_such_database"] = lambda: pgbench("-n", "-S", "-t", "1", "no_such_database")
TESTS["run_for_a_time"] = lambda: [initialized()[0], pgbench("-n", "-T", "1", "-c", "2")[0], query("SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history), count(*) > 0 FROM pgbench_history")]

# Scripts of the user's own, over the table t.
SCRIPTS = {
    "variables": "\\set a random(1, 100)\n\\set b :a * 2 + 1\n\\set c abs(-:b) % 7\n\\set d debug(sqrt(16.0))\nINSERT INTO t VALUES (:a, 'b' || :b);\nINSERT INTO t VALUES (:c, :d);\n",
    "functions": "\\set a random_gaussian(1, 100, 2.5)\n\\set b random_zipfian(1, 100, 1.1)\n\\set c random_exponential(1, 100, 3)\n\\set d permute(:a, 1000, 42)\n\\set e hash(:b) & 1023\n\\set f greatest(1, 5, least(7, 3))\n\\set g pow(2, 10)\n\\set h hash_murmur2(:c) % 100\nINSERT INTO t VALUES (:a, :b || ' ' || :c || ' ' || :d || ' ' || :e || ' ' || :f || ' ' || :g || ' ' || :h);\n",
    "values": "\\set n NULL\n\\set t TRUE\n\\set f 1.5\n\\set big 9223372036854775807\nINSERT INTO t VALUES (:n, :f);\nINSERT INTO t VALUES (1, :t::text), (2, :big::text);\n",
    "case": "\\set i random(1, 10)\n\\set k CASE WHEN :i > 5 THEN 1 ELSE 0 END\n\\set l (:i IS NOT NULL AND NOT :k = 3)\nINSERT INTO t VALUES (:k, 'x');\n",
    "gset": "INSERT INTO t VALUES (5, 'five');\nSELECT a AS x, b AS y FROM t LIMIT 1 \\gset\nINSERT INTO t VALUES (:x::int + 1, 'after');\nSELECT 7 AS one, 8 AS two \\gset p_\nINSERT INTO t VALUES (:p_one::int + :p_two::int, :x);\n",
    "gset_null": "SELECT NULL::int AS nothing, 1.5 AS number, true AS yes, 'word' AS word \\gset\nINSERT INTO t VALUES (:number, ':word');\n",
    "gset_rows": "SELECT 1 AS a UNION ALL SELECT 2 \\gset\n", "gset_no_row": "SELECT 1 AS a WHERE false \\gset\n",
    "aset": "SELECT 1 AS a \\; SELECT 2 AS b, 3 AS c \\; SELECT 4 AS d WHERE false \\aset\nINSERT INTO t VALUES (:a + :b + :c, 'aset');\n",
    "conditions": "\\set i random(1, 4)\n\\if :i = 1\nINSERT INTO t VALUES (1, 'one');\n\\elif :i = 2\nINSERT INTO t VALUES (2, 'two');\n\\else\n\\if :i > 3\nINSERT INTO t VALUES (4, 'four');\n\\endif\n\\endif\n",
    "transaction": "BEGIN;\nINSERT INTO t VALUES (1, 'in');\nSAVEPOINT s;\nINSERT INTO t VALUES (2, 'out');\nROLLBACK TO s;\nEND;\n", "rolled_back": "BEGIN;\nINSERT INTO t VALUES (1, 'x');\nROLLBACK;\n",
    "several": "INSERT INTO t VALUES (1, 'a') \\; INSERT INTO t VALUES (2, 'b') \\; SELECT count(*) FROM t;\n", "comment": "-- a comment\nINSERT INTO t /* inside */ VALUES (1, 'x'); -- after\n", "types": "\\set a 5\nSELECT :a + 1, :a::text, :a / 2.0;\nINSERT INTO t SELECT :a, to_char(:a::int, '000');\nUPDATE t SET b = b || :a WHERE a = :a AND :a > 0;\nDELETE FROM t WHERE a > :a;\n",
    "upsert": "\\set k random(1, 5)\nINSERT INTO k VALUES (:k, 1) ON CONFLICT (id) DO UPDATE SET n = k.n + 1;\n", "many_parameters": "\\set a 1\nINSERT INTO t VALUES " + ", ".join("(:a, :a)" for _ in range(100)) + ";\n", "sleep": "\\sleep 2 ms\nSELECT 1;\n",
    "shell": "\\setshell v echo 17\n\\shell true\nINSERT INTO t VALUES (:v, 'shell');\n", "client_id": "INSERT INTO t VALUES (:client_id, :scale);\n", "error": "INSERT INTO t VALUES (1, 'x');\nSELECT 1 / 0;\nINSERT INTO t VALUES (2, 'y');\n", "unique": "INSERT INTO k VALUES (1, 1);\n",
    "no_table": "SELECT * FROM nothing_here;\n", "undefined_variable": "INSERT INTO t VALUES (1, :nothing);\n", "division": "\\set a 1 / 0\n", "syntax": "\\set a 1 +\n", "unknown_command": "\\nothing\n", "function": "SELECT twice(5) AS v \\gset\nINSERT INTO t VALUES (:v, 'f');\nCALL add_row(:v + 1);\nDO 'BEGIN PERFORM 1; END';\n",
    "listen": "LISTEN c;\nNOTIFY c, 'x';\nUNLISTEN c;\n", "cursor": "BEGIN;\nDECLARE c CURSOR FOR SELECT i FROM generate_series(1, 10) AS i;\nFETCH 3 FROM c;\nFETCH 1 FROM c \\gset\nCOMMIT;\nINSERT INTO t VALUES (:i, 'cursor');\n", "temporary": "CREATE TEMP TABLE x (a int) ON COMMIT DROP;\nSET work_mem = '2MB';\nSHOW work_mem;\nVACUUM t;\n",
    "left_open": "BEGIN;\nINSERT INTO t VALUES (1, 'open');\n", "large_result": "SELECT i, repeat('x', 100) FROM generate_series(1, 5000) AS i;\n"}
PIPELINES = {
    "pipeline": "\\startpipeline\nINSERT INTO t VALUES (1, 'a');\nINSERT INTO t VALUES (2, 'b');\nSELECT count(*) FROM t;\n\\endpipeline\n", "pipeline_in_transaction": "BEGIN;\n\\startpipeline\nINSERT INTO t VALUES (1, 'a');\nSELECT 1;\n\\endpipeline\nINSERT INTO t VALUES (2, 'b');\nCOMMIT;\n",
    "pipeline_with_transaction": "\\startpipeline\nBEGIN;\nINSERT INTO t VALUES (1, 'a');\nCOMMIT;\nBEGIN;\nINSERT INTO t VALUES (2, 'b');\nROLLBACK;\n\\endpipeline\n", "pipeline_error": "INSERT INTO t VALUES (0, 'z');\n\\startpipeline\nINSERT INTO t VALUES (1, 'a');\nSELECT 1 / 0;\nINSERT INTO t VALUES (2, 'b');\n\\endpipeline\n",
    "pipeline_variables": "\\set a random(1, 9)\n\\startpipeline\n\\set b :a + 1\nINSERT INTO t VALUES (:a, :b::text);\n\\if :b > 5\nSELECT :b;\n\\endif\n\\endpipeline\n", "pipeline_gset": "\\startpipeline\nSELECT 1 AS a \\gset\n\\endpipeline\n", "pipeline_twice": "\\startpipeline\n\\startpipeline\n", "pipeline_not_begun": "\\endpipeline\n",
    "pipeline_large": "\\startpipeline\n" + "INSERT INTO t SELECT i, repeat('y', 100) FROM generate_series(1, 20) AS i;\nSELECT * FROM t LIMIT 500;\n" * 30 + "\\endpipeline\n", "pipeline_sleep": "\\startpipeline\nSELECT pg_sleep(0.01);\nSELECT pg_sleep(0.01);\n\\endpipeline\n", "pipeline_ddl": "\\startpipeline\nCREATE TEMP TABLE x (a int);\nINSERT INTO x VALUES (1);\nDROP TABLE x;\n\\endpipeline\n"}
FEW = {"sleep", "large_result", "pipeline_large", "left_open"}  # runs
ALONE = {"types", "unique"}  # what they see depends on the other client


def own(script, mode, count, *arguments, clients=2):
    done = pgbench("-n", "-M", mode, "-c", str(clients), "-t", str(count), "--random-seed=42", *arguments, script=script)
    return [done, query("SELECT count(*), sum(a), max(b), count(b), md5(string_agg(a || ' ' || b, ',' ORDER BY a, b)) FROM t"), query("SELECT * FROM k ORDER BY id")]


for name, script in SCRIPTS.items():
    for mode in MODES if name not in ("undefined_variable", "division", "syntax", "unknown_command", "shell", "sleep") else MODES[:1]:
        TESTS[f"script_{name}_{mode}"] = lambda script=script, mode=mode, name=name: own(script, mode, 2 if name in FEW else 10, clients=1 if name in ALONE else 2)
for name, script in PIPELINES.items():
    for mode in MODES[1:] if name != "pipeline" else MODES:
        TESTS[f"script_{name}_{mode}"] = lambda script=script, mode=mode, name=name: own(script, mode, 2 if name in FEW else 10)

# Transactions that must be tried again.
CONFLICT = "BEGIN ISOLATION LEVEL {};\nSELECT n AS old FROM k WHERE id = 1 \\gset\nUPDATE k SET n = :old + 1 WHERE id = 1;\nCOMMIT;\n"


def retried(script, *arguments):
    query("INSERT INTO k VALUES (1, 0), (2, 0) RETURNING 1")
    done = pgbench("-n", "-c", "4", "-t", "10", "--random-seed=42", *arguments, script=script)
    return [done[0], [line for line in done[1] if not re.search("retried|retries|serialization|deadlock|errors|failed", line)], query("SELECT * FROM k ORDER BY id")]


for level in ("repeatable read", "serializable"):
    TESTS[f"retry_{level.replace(' ', '_')}"] = lambda level=level: retried(CONFLICT.format(level), "--max-tries=1000")
TESTS["retry_deadlock"] = lambda: retried("\\set a 1 + :client_id % 2\n\\set b 3 - :a\nBEGIN;\nUPDATE k SET n = n + 1 WHERE id = :a;\nUPDATE k SET n = n + 1 WHERE id = :b;\nCOMMIT;\n", "--max-tries=1000", "--failures-detailed")
TESTS["retry_in_pipeline"] = lambda: retried("\\startpipeline\nBEGIN ISOLATION LEVEL REPEATABLE READ;\nUPDATE k SET n = n + 1 WHERE id = 1;\nCOMMIT;\n\\endpipeline\n", "--max-tries=1000", "-M", "extended")
TESTS["variable_given"] = lambda: own("INSERT INTO t VALUES (:own, ':word');\n", "simple", 3, "-D", "own=77", "-D", "word=text")
TESTS["scripts_weighted"] = lambda: own("INSERT INTO t VALUES (1, 'mine');\n", "simple", 20, "-b", "select-only@0", "-l")
TESTS["transactions_logged"] = lambda: own("INSERT INTO t VALUES (1, 'x');\n", "prepared", 50, "-l", "-R", "1000")
TESTS["errors_verbose"] = lambda: own("SELECT 1 / 0;\n", "extended", 3, "--verbose-errors", "--failures-detailed")


SETUP = """
DROP SCHEMA public CASCADE; CREATE SCHEMA public;
CREATE TABLE t (a int, b text); CREATE TABLE k (id int PRIMARY KEY, n int NOT NULL);
CREATE FUNCTION twice(x int) RETURNS int LANGUAGE sql AS 'SELECT 2 * x'; CREATE PROCEDURE add_row(x int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (x, 'called'); END $$;
"""


def main():
    chosen = sys.argv[3] if len(sys.argv) > 3 else ""
    for name, function in TESTS.items():
        if not re.search(chosen, name):
            continue
        try:
            with psycopg.connect(place, autocommit=True) as connection:
                connection.execute("SET client_min_messages = error; SET lock_timeout = '20s'; " + SETUP)
            print(json.dumps({"name": name, "value": json.loads(json.dumps(function(), default=str))}), flush=True)
        except Exception as wrong:  # noqa: BLE001: any failure is one
            print(json.dumps({"name": name, "error": f"{type(wrong).__name__}: {wrong}"}), flush=True)


if __name__ == "__main__":
    main()
