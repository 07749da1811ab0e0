"""Clients that rest: with open cursors, suspended portals, or a COPY that nobody reads. Other queries get the memory of their queries,
and they themselves notice nothing."""
import hashlib
import socket
import struct
import time

from mistake import Failure, check

ROWS = 600_000
FILL = f"CREATE TABLE big AS SELECT g AS n, 'some text ' || md5(g::text) AS s, g % 1000 AS k FROM generate_series(1, {ROWS}) g"
RESTING = [
    "SELECT a.n, a.s, b.s FROM big a JOIN big b ON a.n = b.n",
    "SELECT n, s FROM big ORDER BY s",
    "WITH x AS MATERIALIZED (SELECT n, s FROM big) SELECT * FROM x UNION ALL SELECT n, s || '!' FROM x",
    "SELECT s, max(n) FROM big GROUP BY s",
    "SELECT n, s, sum(n) OVER (PARTITION BY k ORDER BY n) FROM big",
]
IN_ORDER = RESTING[1]
SOME_IN_ORDER = "SELECT n, s FROM big WHERE n <= 200000 ORDER BY s"
WORK = [
    "SELECT sum(n * r % 1000003) FROM (SELECT n, row_number() OVER (ORDER BY s) AS r FROM big) x",
    "SELECT count(*), sum(c), min(s), max(s) FROM (SELECT s, count(*) AS c FROM big GROUP BY s) x",
    "SELECT sum(x) FROM (SELECT n - lag(n) OVER (PARTITION BY k ORDER BY s) AS x FROM big) x",
]


class Client:
    """A session by the protocol, which may leave what the server sends unread."""
    def __init__(self, server):
        self.buffer, self.port = b"", server.port
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self.socket.settimeout(120)
        self.socket.connect(("127.0.0.1", server.port))
        body = struct.pack("!i", 196608) + b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)
        self.answer()

    def send(self, *messages):
        self.socket.sendall(b"".join(kind + struct.pack("!i", len(body) + 4) + body for kind, body in messages))

    def message(self):
        while len(self.buffer) < 5 or len(self.buffer) < 1 + struct.unpack("!i", self.buffer[1:5])[0]:
            data = self.socket.recv(1 << 20)
            check(data, "the server has closed a connection")
            self.buffer += data
        end = 1 + struct.unpack("!i", self.buffer[1:5])[0]
        kind, body = self.buffer[:1], self.buffer[5:end]
        self.buffer = self.buffer[end:]
        return kind, body

    def answer(self):
        """The rows up to ReadyForQuery, as bytes, and the SQLSTATE of an error."""
        rows, state = [], None
        while True:
            kind, body = self.message()
            if kind in (b"D", b"d"): rows.append(body)
            if kind == b"E":
                state = next(field[1:].decode() for field in body.split(b"\0") if field[:1] == b"C")
                self.complaint = body.replace(b"\0", b" ").decode()
            if kind == b"K": self.key = body
            if kind == b"Z": return rows, state

    def run(self, text):
        self.send((b"Q", text.encode() + b"\0"))
        rows, state = self.answer()
        check(state is None, f"{text}: {state and self.complaint}")
        return rows

    def fails(self, text):
        self.send((b"Q", text.encode() + b"\0"))
        return self.answer()[1]

    def cancel(self):
        with socket.create_connection(("127.0.0.1", self.port)) as other:
            other.sendall(struct.pack("!ii", 16, 80877102) + self.key)
            other.recv(1)

    def close(self):
        self.socket.close()


def start(place, *flags):
    server = place.serve("--threads", "2", "--spill", place.path("spill"), *flags).wait_until_ready()
    place.others.append(server)
    server.sql(FILL)
    server.sql("CHECKPOINT")  # the rows leave memory
    return server


def digest(rows, in_order=False):
    whole = hashlib.md5()
    for row in rows if in_order else sorted(rows): whole.update(row)
    return len(rows), whole.hexdigest()


def memory(server):
    return int(server.sql("SELECT bytes FROM ouzel_stat_memory WHERE name = 'queries'"))


def on_disk(server):
    return int(server.sql("SELECT sum(bytes_in_use) FROM ouzel_stat_spill"))


def soon(server, what, is_true, seconds=20):
    for _ in range(seconds * 20):
        if is_true(): return
        time.sleep(0.05)
    raise Failure(f"{what}: {memory(server)} bytes of queries, {on_disk(server)} on disk\n{server.stderr}")


def rest(client, query, name="c", fetch="FETCH 3"):
    """Open a cursor, and take a few rows of it."""
    client.run("BEGIN")
    client.run(f"DECLARE {name} NO SCROLL CURSOR FOR {query}")
    return client.run(f"{fetch} FROM {name}")


def answers_beside(server, sessions, expected, results):
    """Let so many sessions rest, work beside them, and read on."""
    clients = [Client(server) for _ in range(sessions)]
    queries = [RESTING[i % len(RESTING)] for i in range(sessions)]
    first = [rest(client, query) for client, query in zip(clients, queries)]
    time.sleep(0.2)
    for query in WORK * 2:
        check(server.sql(query) == expected[query], f"another answer beside {sessions} sessions: {query}")
    for client, query, rows in zip(clients, queries, first):
        got = digest(rows + client.run("FETCH ALL FROM c"), query == IN_ORDER)
        check(got == results[query], f"another result beside others: {query}")
    for client in clients: client.run("COMMIT")
    soon(server, "pages of results stay on disk", lambda: on_disk(server) == 0)
    for client in clients: client.close()


def open_cursors(limit):
    def tell(place):
        server = start(place, "--memory-limit", limit)
        expected = {query: server.sql(query) for query in WORK}
        reader = Client(server)
        results = {query: digest(reader.run(query), query == IN_ORDER) for query in RESTING}
        reader.close()
        before = memory(server)
        for sessions in (1, 2, 5, 8): answers_beside(server, sessions, expected, results)
        soon(server, "memory stays in use", lambda: memory(server) <= before + (2 << 20))
        server.stop()
    return tell


def they_give_way(place):
    """A session that rests gives its memory back, and keeps its place in its result."""
    # A query gives way when it has more than half of what queries may use. The smallest table of the join is 37 MB, if one worker makes all of it.
    server = start(place, "--memory-limit", "64MB")
    expected = {query: server.sql(query) for query in WORK}
    for query in RESTING:
        client = Client(server)
        rest(client, query)
        held = memory(server)
        check(held > 3 << 20, f"a query that rests holds {held} bytes only: {query}")
        for work in WORK: check(server.sql(work) == expected[work], f"another answer: {work}")
        # It may have had less than its part while the first of these queries ran.
        soon(server, f"it keeps its memory: {query}", lambda: memory(server) < 8 << 20 or not server.sql(WORK[0]))
        check(on_disk(server) > 3 << 20, "the rest of the result is not on disk")
        client.run("CLOSE c")
        soon(server, "its result stays on disk", lambda: on_disk(server) == 0)
        client.close()
    server.stop()


def kinds_of_rest(place):
    """Suspended portals, a COPY that nobody reads, cursors that scroll or are held."""
    server = start(place, "--memory-limit", "128MB")
    expected = {query: server.sql(query) for query in WORK}
    reader = Client(server)
    whole = reader.run(IN_ORDER)

    def work():
        time.sleep(0.2)
        for query in WORK: check(server.sql(query) == expected[query], f"another answer: {query}")
    portal = Client(server)
    portal.run("BEGIN")
    portal.send((b"P", b"\0" + IN_ORDER.encode() + b"\0\0\0"), (b"B", b"p\0\0\0\0\0\0\0\0"), (b"E", b"p\0" + struct.pack("!i", 10)), (b"S", b""))
    rows = portal.answer()[0]
    copy = Client(server)
    copy.send((b"Q", f"COPY ({IN_ORDER}) TO STDOUT\0".encode()))
    scroll = Client(server)
    scroll.run("BEGIN")
    scroll.run(f"DECLARE c SCROLL CURSOR FOR {IN_ORDER}")
    check(scroll.run("FETCH 5000 FROM c") == whole[:5000], "a scrollable cursor begins with other rows")
    held = Client(server)
    rest(held, IN_ORDER)
    work()
    while True:
        portal.send((b"E", b"p\0" + struct.pack("!i", 50_000)), (b"S", b""))
        more, state = portal.answer()
        check(state is None, f"a portal fails: {state and portal.complaint}")
        rows += more
        if len(more) < 50_000: break
    check(rows == whole, "a portal gives other rows")
    check(len(copy.answer()[0]) == ROWS, "COPY loses rows")
    check(scroll.run("FETCH BACKWARD 10 FROM c") == whole[4989:4999][::-1], "a cursor does not scroll back")
    check(scroll.run("MOVE 400000 FROM c") == [], "MOVE gives rows")
    check(scroll.run("FETCH 10 FROM c") == whole[404_990:405_000], "a cursor loses its place")
    check(scroll.run("FETCH ABSOLUTE 100 FROM c") == whole[99:100], "a cursor does not go back")
    held.run("COMMIT")
    held.run("BEGIN")
    held.run(f"DECLARE h CURSOR WITH HOLD FOR {IN_ORDER}")
    held.run("FETCH 10 FROM h")
    work()
    held.run("COMMIT")
    check(held.run("FETCH ALL FROM h") == whole[10:], "a held cursor gives other rows")
    for client in (portal, copy, scroll, held, reader): client.close()
    soon(server, "results stay on disk", lambda: on_disk(server) == 0)
    server.stop()


def how_it_ends(place):
    """A cancel, an error behind the rows, a client that is gone, and a transaction that is rolled back."""
    server = start(place, "--memory-limit", "128MB")
    expected = {query: server.sql(query) for query in WORK}

    def work():
        time.sleep(0.2)
        for query in WORK: check(server.sql(query) == expected[query], f"another answer: {query}")
    client = Client(server)
    # The last row in order fails. The error comes when the client gets there.
    failing = f"SELECT n, s, 1 / ({ROWS} - r) FROM (SELECT n, s, row_number() OVER (ORDER BY s) AS r FROM big) x"
    rest(client, failing)
    work()
    soon(server, "a query that fails keeps its memory", lambda: memory(server) < 8 << 20)
    check(len(client.run("FETCH 300000 FROM c")) == 300_000, "rows before the error are lost")
    check(client.fails("FETCH ALL FROM c") == "22012", "the error is lost")
    check(client.fails("FETCH 1 FROM c") == "25P02", "the transaction goes on")
    client.run("ROLLBACK")
    rest(client, RESTING[0])
    client.run("SAVEPOINT a")
    client.run(f"DECLARE d CURSOR FOR {RESTING[1]}")
    client.run("FETCH 3 FROM d")
    work()
    client.run("ROLLBACK TO a")
    check(len(client.run("FETCH 100000 FROM c")) == 100_000, "a savepoint takes a cursor away that is older")
    client.send((b"Q", b"FETCH ALL FROM c\0"))
    client.message()
    client.cancel()
    check(client.answer()[1] == "57014", "a FETCH from disk is not cancelled")
    client.run("ROLLBACK")
    soon(server, "results stay on disk", lambda: on_disk(server) == 0 and memory(server) < 4 << 20)
    # What is volatile waits for the client.
    client.run("CREATE SEQUENCE q")
    rest(client, "SELECT n, s, nextval('q') FROM (SELECT * FROM big ORDER BY s) x")
    work()
    check(int(server.sql("SELECT last_value FROM q")) < ROWS / 2, "it ran ahead with a function that has an effect")
    client.run("ROLLBACK")
    rest(client, RESTING[0])
    other = Client(server)
    other.send((b"Q", WORK[0].encode() + b"\0"))
    time.sleep(0.1)
    client.close()  # while it runs ahead, or before
    check(other.answer()[1] is None, "a client that is gone spoils another query")
    soon(server, "a client that is gone leaves something", lambda: on_disk(server) == 0 and memory(server) < 4 << 20)
    server.stop()


def no_space(place):
    """The disk is too small for results: sessions go on resting in memory, and lose nothing."""
    place.mount(place.path("spill"), "-t", "tmpfs", "-o", "size=6m", "none")
    server = start(place, "--memory-limit", "128MB")
    clients = [Client(server) for _ in range(2)]
    first = [rest(client, SOME_IN_ORDER) for client in clients]
    time.sleep(0.2)
    failed = server.psql(WORK[0]).stderr
    check(failed == "" or "53100" in failed or "53200" in failed, f"a query without space fails in another way: {failed}")
    whole = [rows + client.run("FETCH ALL FROM c") for client, rows in zip(clients, first)]
    check(whole[0] == whole[1] and len(whole[0]) == 200_000, "rows are lost without space on disk")
    for client in clients: client.close()
    soon(server, "something is left", lambda: on_disk(server) == 0 and memory(server) < 4 << 20)
    server.stop()


TELLS = {
    "open cursors beside queries, 128MB": open_cursors("128MB"),
    "open cursors beside queries, 512MB": open_cursors("512MB"),
    "cursors that rest give way": they_give_way,
    "portals, COPY and cursors that rest": kinds_of_rest,
    "how cursors that rest end": how_it_ends,
}
WITH_MOUNTS = {"cursors that rest, without space on disk": no_space}
