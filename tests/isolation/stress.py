#!/usr/bin/env python3
"""Many sessions at once for some seconds: transfers between accounts at every isolation level, readers that add all up, a
queue emptied with SKIP LOCKED, children of parents that come and go and are stored anew, tables made and dropped,
checkpoints. Money is neither made nor lost, a job is done once, each child has a parent, which counts it, only errors that
ask for another try come up, and nothing stands still.

    tests/isolation/stress.py [--build build/relassert] [--seconds 5] [--clients 8] [--seed N]"""
import argparse
import os
import random
import select
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../scripts"))
from libpq import Connection  # noqa: E402
from run_sql_tests import Server  # noqa: E402

ACCOUNTS, BALANCE, PARENTS, PATIENCE = 20, 1000, 4, 60
RETRIED = ("40001", "40P01", "55P03")
done, retries, jobs = {}, {}, []
contested_until = 0  # until then, everybody wants one key


class Failure(Exception):
    pass


def transfer(rng, level):
    """Take from one account, give to another; under the stricter levels by what was read."""
    a, b = rng.sample(range(ACCOUNTS), 2)
    amount = rng.randrange(1, 20)
    yield "BEGIN ISOLATION LEVEL " + level
    if level == "READ COMMITTED":
        yield f"UPDATE account SET balance = balance - {amount} WHERE id = {a}"
        yield f"UPDATE account SET balance = balance + {amount} WHERE id = {b}"
    else:
        rows = yield f"SELECT id, balance FROM account WHERE id IN ({a}, {b}) ORDER BY id"
        balance = dict(map(int, row.split("|")) for row in rows[:-1])
        yield f"UPDATE account SET balance = {balance[a] - amount} WHERE id = {a}"
        yield f"UPDATE account SET balance = {balance[b] + amount} WHERE id = {b}"
    if rng.random() < 0.2:
        yield "SAVEPOINT s"
        yield f"UPDATE account SET balance = balance + 7 WHERE id = {rng.randrange(ACCOUNTS)}"
        yield "ROLLBACK TO s"
    yield "ROLLBACK" if rng.random() < 0.1 else "COMMIT"


def everyone(rng):
    """A statement that meets all rows, while others change them."""
    yield "BEGIN"
    yield "UPDATE account SET balance = balance + CASE WHEN id % 2 = 0 THEN 1 ELSE -1 END"
    yield "COMMIT"


def total(rng):
    rows = yield "SELECT sum(balance), count(*) FROM account"
    if rows[0] != f"{ACCOUNTS * BALANCE}|{ACCOUNTS}":
        raise Failure(f"a reader saw {rows[0]}")


def worker(rng):
    yield "BEGIN"
    rows = yield "SELECT id FROM job ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED"
    taken = rows[:-1]
    for job in taken:
        yield f"DELETE FROM job WHERE id = {job}"
    yield "COMMIT"
    jobs.extend(taken)


def producer(rng):
    yield "INSERT INTO job SELECT nextval('numbers') FROM generate_series(1, 3)"


def tables(rng):
    name = f"made_{rng.randrange(3)}"
    yield f"DROP TABLE IF EXISTS {name}"
    yield f"CREATE TABLE IF NOT EXISTS {name} AS SELECT id, balance FROM account"
    yield f"ALTER TABLE {name} ADD COLUMN IF NOT EXISTS more int DEFAULT 5"
    yield f"SELECT sum(balance), sum(more) FROM {name}"


def checkpoint(rng):
    yield "CHECKPOINT"


def unique(rng):
    key = rng.randrange(5)
    yield "BEGIN"
    yield f"INSERT INTO keyed VALUES ({key})"
    yield f"DELETE FROM keyed WHERE id = {key}"
    yield "COMMIT"


def upsert(rng):
    """Counts at a key; now and then a key goes, so that it is inserted anew. Waits, and fails for nothing."""
    key = rng.randrange(3)
    yield f"DELETE FROM tally WHERE id = {key}" if rng.random() < 0.2 else (
        f"INSERT INTO tally VALUES ({key}, 1) ON CONFLICT (id) DO UPDATE SET n = tally.n + 1")


def contest(rng):
    """Counts at one key that goes as often as it comes, so that the row which a statement meets is ever another one."""
    yield "DELETE FROM tally WHERE id = 9" if rng.random() < 0.45 else (
        "INSERT INTO tally VALUES (9, 1) ON CONFLICT (id) DO UPDATE SET n = tally.n + 1")


def birth(rng):
    """A child that its parent counts, before or after it has come."""
    parent, steps = rng.randrange(PARENTS), []
    steps.append(f"INSERT INTO child VALUES ({parent})")
    steps.append(f"UPDATE parent SET n = n + 1 WHERE id = {parent}")
    yield "BEGIN ISOLATION LEVEL " + rng.choice(["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"])
    if rng.random() < 0.3:
        strength = rng.choice(["KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"])
        wait = rng.choice(["", " NOWAIT", " SKIP LOCKED"])
        yield f"SELECT n FROM parent WHERE id = {parent} FOR {strength}{wait}"
    for step in rng.sample(steps, 2):
        if (yield step) == ["UPDATE 0"]:
            yield "ROLLBACK"
            return
        if rng.random() < 0.1:
            yield "SAVEPOINT s"
            yield f"DELETE FROM parent WHERE id = {(parent + 1) % PARENTS}"
            yield "ROLLBACK TO s"
    yield "ROLLBACK" if rng.random() < 0.1 else "COMMIT"


def death(rng):
    """The children of a parent go, and perhaps the parent, which comes again another time."""
    parent = rng.randrange(PARENTS)
    yield "BEGIN"
    rows = yield f"DELETE FROM child WHERE pid = {parent} RETURNING 1"
    yield f"UPDATE parent SET n = n - {len(rows) - 1} WHERE id = {parent}"
    if rng.random() < 0.5:
        yield f"DELETE FROM parent WHERE id = {parent}"
    else:
        yield f"UPDATE parent SET id = id + {PARENTS} WHERE id = {parent}"
        yield f"UPDATE parent SET id = id - {PARENTS} WHERE id = {parent + PARENTS}"
    yield "COMMIT"
    yield f"INSERT INTO parent VALUES ({parent}, 0) ON CONFLICT DO NOTHING"


def visit(rng):
    """A child that nobody counts: it keeps its parent by nothing but the foreign key."""
    parent = rng.randrange(PARENTS)
    yield "BEGIN"
    yield f"INSERT INTO visitor VALUES ({parent})"
    yield f"SELECT count(*) FROM visitor WHERE pid = {parent}"
    yield "ROLLBACK" if rng.random() < 0.2 else "COMMIT"
    rows = yield "SELECT pid FROM visitor WHERE pid NOT IN (SELECT id FROM parent)"
    if len(rows) > 1:
        raise Failure("visitors have no parent: " + "; ".join(rows[:-1]))
    yield f"DELETE FROM visitor WHERE pid = {parent}"


def crowd(rng):
    """Many children of one parent, which others lock alone. Waits, and fails for nothing."""
    yield "SELECT id FROM host WHERE id = 1 FOR UPDATE" if rng.random() < 0.4 else (
        "INSERT INTO guest SELECT 1 FROM generate_series(1, 100)")


def clearing(rng):
    """Several parents are updated, which keeps their keys, and then go together; so each new version must mind new children."""
    some = rng.sample(range(PARENTS), 3)
    numbers = ", ".join(map(str, some))
    yield "BEGIN ISOLATION LEVEL " + rng.choice(["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"])
    if rng.random() < 0.7:
        yield f"DELETE FROM child WHERE pid IN ({numbers})"
    yield f"UPDATE parent SET n = n + 1000 WHERE id IN ({numbers})"
    if rng.random() < 0.3:
        yield "SAVEPOINT s"
        yield f"DELETE FROM parent WHERE id IN ({numbers})"
        yield "ROLLBACK TO s"
    if rng.random() < 0.3:
        yield f"SELECT n FROM parent WHERE id = {some[0]} FOR UPDATE"
    if rng.random() < 0.3:
        yield f"DELETE FROM parent WHERE id = {some[0]}"
    if rng.random() < 0.3:
        yield f"UPDATE parent SET id = id + {10 * PARENTS} WHERE id = {some[1]}"
        yield f"DELETE FROM parent WHERE id = {some[1] + 10 * PARENTS}"
    yield f"DELETE FROM parent WHERE id IN ({numbers})"
    yield "COMMIT"
    for parent in some:
        yield f"INSERT INTO parent VALUES ({parent}, 0) ON CONFLICT DO NOTHING"


def rebuilding(rng):
    """The parents are stored anew."""
    yield f"ALTER TABLE parent ALTER n TYPE {rng.choice(['int', 'bigint'])}"


class Client:
    def __init__(self, number, conninfo, rng):
        self.number, self.rng, self.connection = number, rng, Connection(conninfo)
        self.kind, self.script, self.busy, self.sent = None, None, False, time.monotonic()

    def next_script(self):
        kinds = [(transfer, 30), (everyone, 3), (total, 10), (worker, 10), (producer, 5), (unique, 10), (upsert, 20),
                 (birth, 25), (death, 8), (clearing, 8), (visit, 12), (crowd, 8)]
        if self.number == 0:
            kinds += [(checkpoint, 3)]
        if self.number == 1:
            kinds += [(tables, 10)]
        if self.number == 2:
            kinds += [(rebuilding, 5)]
        if time.monotonic() < contested_until:
            kinds = [(contest, 1)]
        self.kind = self.rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        if self.kind is transfer:
            return transfer(self.rng, self.rng.choice(["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]))
        return self.kind(self.rng)

    def send(self, sql):
        self.connection.send(sql)
        self.busy, self.sent, self.sql = True, time.monotonic(), sql

    def advance(self, is_over):
        """Take what has come; send what is next. False: the client has ended."""
        lines = None
        if self.busy:
            lines = self.connection.result()
            if lines is None:
                if time.monotonic() - self.sent > PATIENCE:
                    raise Failure(f"client {self.number} stands still in: {self.sql}")
                return True
            self.busy = False
            error = next((line for line in lines if line.startswith("ERROR")), None)
            if error:
                state = error.split()[1].rstrip(":")
                expected = () if self.kind in (upsert, contest, crowd) else RETRIED + (("23505",) if self.kind is unique else ()) + (
                    ("23503",) if self.kind in (birth, death, clearing, visit) else ()) + (
                    ("42P07", "42P01", "XX000", "42703") if self.kind is tables else ())
                if state not in expected:
                    raise Failure(f"{error} in: {self.sql}")
                retries[state] = retries.get(state, 0) + 1
                self.script = None
                if self.connection.in_transaction():
                    self.send("ROLLBACK")
                    return True
        try:
            if self.script is None:
                if is_over:
                    return False
                self.script = self.next_script()
                self.send(next(self.script))
            else:
                self.send(self.script.send(lines))
        except StopIteration:
            done[self.kind.__name__] = done.get(self.kind.__name__, 0) + 1
            self.script = None
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/relassert")
    parser.add_argument("--conninfo")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    print("seed", args.seed)
    server = None
    if not args.conninfo:
        server = Server(args.build)
        server.start()
    conninfo = args.conninfo or f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres"
    control = Connection(conninfo)
    for sql in ["DROP TABLE IF EXISTS account, job, keyed, tally, visitor, guest, host, child, parent, made_0, made_1, made_2", "DROP SEQUENCE IF EXISTS numbers",
                "CREATE TABLE account (id int PRIMARY KEY, balance int)",
                f"INSERT INTO account SELECT g, {BALANCE} FROM generate_series(0, {ACCOUNTS - 1}) g",
                "CREATE TABLE job (id bigint)", "CREATE SEQUENCE numbers", "CREATE TABLE keyed (id int PRIMARY KEY)",
                "CREATE TABLE tally (id int PRIMARY KEY, n int NOT NULL)", "CREATE TABLE parent (id int PRIMARY KEY, n int)",
                "CREATE TABLE child (pid int REFERENCES parent)", "CREATE TABLE visitor (pid int REFERENCES parent)",
                "CREATE TABLE host (id int PRIMARY KEY)", "INSERT INTO host VALUES (1)",
                "CREATE TABLE guest (pid int REFERENCES host)",
                f"INSERT INTO parent SELECT g, 0 FROM generate_series(0, {PARENTS - 1}) g"]:
        for line in control.run(sql):
            if line.startswith("ERROR"):
                raise SystemExit(f"{sql}: {line}")
    clients = [Client(i, conninfo, random.Random(args.seed * 1000 + i)) for i in range(args.clients)]
    global contested_until
    contested_until = time.monotonic() + args.seconds / 5
    end = contested_until + args.seconds
    try:
        running = list(clients)
        while running:
            is_over = time.monotonic() > end
            running = [client for client in running if client.advance(is_over)]
            waiting = [c.connection.socket() for c in running if c.busy]
            if len(waiting) == len(running) and waiting:
                select.select(waiting, [], [], 0.1)
        rows = control.run("SELECT sum(balance) FROM account")
        if rows[0] != str(ACCOUNTS * BALANCE):
            raise Failure(f"the balances add up to {rows[0]}")
        if len(jobs) != len(set(jobs)):
            raise Failure("a job was done twice")
        left = int(control.run("SELECT count(*) FROM job")[0])
        made = int(control.run("SELECT last_value FROM numbers")[0]) if done.get("producer") else 0
        if len(jobs) + left > made:
            raise Failure(f"{len(jobs)} jobs done and {left} left of {made}")
        wrong = control.run("SELECT id, n, c FROM parent FULL JOIN (SELECT pid, count(*) c FROM child GROUP BY pid) x ON id = pid "
                            "WHERE id IS NULL OR n <> coalesce(c, 0)")
        if len(wrong) > 1:
            raise Failure("parents and children do not match: " + "; ".join(wrong[:-1]))
        locks = control.run("SELECT * FROM pg_locks WHERE pid <> pg_backend_pid()")
        if len(locks) > 1:
            raise Failure("locks are left over: " + "; ".join(locks[:-1]))
    except Failure as failure:
        print("FAILED:", failure)
        return 1
    finally:
        if server:
            server.stop()
    log = open(server.data + ".log", errors="replace").read() if server else ""
    if "WARNING: ThreadSanitizer" in log or "ERROR: AddressSanitizer" in log:
        print(log[-20000:])
        print("FAILED: the sanitizer has something to say")
        return 1
    if server:
        server.remove()
    print("done:", done, "tried again:", retries)
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
