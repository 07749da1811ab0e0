"""What sessions do in a soak. Each function is one round; it returns what went wrong that should not have."""
import subprocess
import time

SETUP = """
CREATE TABLE kept (n integer PRIMARY KEY, part integer, s text);
INSERT INTO kept SELECT g, g % 100, md5(g::text) FROM generate_series(1, 200000) g;
CREATE TABLE inbox (id bigint, s text);
CHECKPOINT;
"""


def errors_of(result, *expected):
    """Messages of a script beyond those that belong to it."""
    lines = [line for line in result.stderr.splitlines() if ("ERROR:" in line or "FATAL:" in line or "PANIC:" in line)]
    return "; ".join(line for line in lines if not any(text in line for text in expected))


def temporary_tables(server, chance):
    n = chance.randrange(1000, 60000)
    return errors_of(server.psql(f"""
        CREATE TEMP TABLE a AS SELECT g AS n, md5(g::text) AS s FROM generate_series(1, {n}) g;
        CREATE TEMP TABLE b ON COMMIT PRESERVE ROWS AS SELECT n, count(*) AS c FROM a GROUP BY n;
        UPDATE a SET s = s || 'x' WHERE n % 3 = 0;
        SELECT count(*) FROM a JOIN kept USING (n);
        {"DROP TABLE a;" if chance.random() < 0.5 else ""}"""))


def definitions(server, chance):
    name = f"d{chance.randrange(5)}"
    return errors_of(server.psql(f"""
        CREATE TABLE {name} (id serial PRIMARY KEY, v numeric(12, 2) DEFAULT 1.5, s text);
        CREATE INDEX ON {name} (s);
        CREATE VIEW {name}_view AS SELECT id, v FROM {name};
        INSERT INTO {name} (s) SELECT 'row ' || g FROM generate_series(1, 5000) g;
        ALTER TABLE {name} ADD COLUMN extra integer DEFAULT 7;
        TRUNCATE {name};
        BEGIN; INSERT INTO {name} (s) VALUES ('gone'); CREATE TABLE {name}_gone (n integer); ROLLBACK;
        DROP VIEW {name}_view;
        DROP TABLE {name};"""), "already exists", "does not exist", "deadlock detected")


def changes(server, chance):
    part = chance.randrange(100)
    return errors_of(server.psql(f"""
        UPDATE kept SET s = md5(s) WHERE part = {part};
        BEGIN; DELETE FROM kept WHERE part = {part}; INSERT INTO kept SELECT g, {part}, md5(g::text) FROM generate_series({part or 100}, 200000, 100) g; COMMIT;
        BEGIN; DELETE FROM kept WHERE n < 1000; ROLLBACK;
        INSERT INTO kept VALUES (1, 1, 'again') ON CONFLICT (n) DO UPDATE SET s = 'again';"""), "deadlock detected", "could not serialize")


def copies(server, chance):
    rows = "".join(f"{i}\trow {i}\n" for i in range(chance.randrange(100, 20000)))
    result = server.psql("COPY inbox FROM STDIN;\n" + rows + "\\.\nSELECT count(*) FROM inbox;\nDELETE FROM inbox;\n")
    problem = errors_of(result)
    if problem: return problem
    return errors_of(server.psql("COPY (SELECT * FROM kept WHERE part < 10) TO STDOUT;"))


def cursors(server, chance):
    return errors_of(server.psql("BEGIN; DECLARE c CURSOR FOR SELECT * FROM kept ORDER BY s; FETCH 500 FROM c; FETCH 500 FROM c; COMMIT;\n"
                                 "PREPARE p(integer) AS SELECT s FROM kept WHERE n = $1;\n" +
                                 "".join(f"EXECUTE p({chance.randrange(1, 200000)});\n" for _ in range(100)) + "DEALLOCATE p;"))


def aggregates(server, chance):
    groups = chance.randrange(300_000, 1_500_000)
    return errors_of(server.psql(f"""
        SET memory_limit = '64MB';
        SELECT count(*), max(c) FROM (SELECT md5((g % {groups})::text) AS k, count(*) AS c, string_agg(g::text, ',') FROM generate_series(1, 1500000) g GROUP BY 1) q;
        SELECT count(*) FROM (SELECT s FROM kept, generate_series(1, 5) ORDER BY s, n OFFSET 10) q;"""), "out of memory", "memory limit")


def errors(server, chance):
    script = "SELECT 1 / 0;\nSELEC 1;\nSELECT * FROM nowhere;\nINSERT INTO kept VALUES (5, 5, 'twice');\nSELECT 'x'::integer;\nBEGIN;\nSELECT 1 / 0;\nSELECT 1;\nROLLBACK;\n"
    result = server.psql(script * 5)
    return "" if result.stderr.count("ERROR") == 35 else f"{result.stderr.count('ERROR')} errors, not 35"


def cancels(server, chance):
    problem = errors_of(server.psql("SET statement_timeout = 300; SELECT count(*) FROM kept a, kept b WHERE a.s < b.s; SELECT pg_sleep(5);"), "statement timeout")
    client = subprocess.Popen(server.command() + ["-c", "SELECT count(*) FROM kept a, kept b WHERE a.s < b.s"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    time.sleep(chance.random())
    client.kill()  # its server notices
    client.wait()
    return problem


def comings_and_goings(server, chance):
    clients = [subprocess.Popen(server.command() + ["-c", f"SELECT count(*) FROM kept WHERE part = {i}; SELECT pg_sleep(0.2)"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for i in range(12)]
    return "; ".join(f"a client ended with {client.returncode}" for client in clients if client.wait() != 0)


def snapshots(server, chance):
    """One that is idle for a while, and sees the same at its end."""
    seconds = chance.randrange(1, 12)
    result = server.psql(f"BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT count(*), min(s) FROM kept;\nSELECT pg_sleep({seconds});\nSELECT count(*), min(s) FROM kept;\nCOMMIT;")
    lines = [line for line in result.stdout.splitlines() if line]
    return errors_of(result) or ("" if len(lines) >= 2 and lines[0] == lines[-1] else f"it sees {lines}")


def checkpoints(server, chance):
    time.sleep(chance.random() * 8)
    return errors_of(server.psql("CHECKPOINT;"))


WORKLOADS = {"temporary tables": temporary_tables, "definitions": definitions, "changes": changes, "copies": copies, "cursors": cursors,
             "aggregates": aggregates, "errors": errors, "cancels": cancels, "comings and goings": comings_and_goings, "snapshots": snapshots,
             "checkpoints": checkpoints}
