"""What users of pgbouncer do, through psycopg: users let in by passwords that pgbouncer or the server knows, pools of sessions,
transactions and statements, what is reset between clients, parameters that go with a client, cancellation, notifications, COPY, servers
that are checked or end, the admin console. Each test starts a pgbouncer. Prints for each test a line of JSON: its name and what it has
seen, which suite.py compares."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import psycopg
from psycopg import pq

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../scripts"))
from free_port import free_port  # noqa: E402

binary, server_place = sys.argv[1:3]
SERVER = dict(word.split("=", 1) for word in server_place.split())
TESTS = {}
MODES = ("session", "transaction")


class Pooler:
    """A pgbouncer over the server, and connections through it. The database of a connection names its pool."""

    def __init__(self, home, port):
        self.home, self.port = home, port

    def connect(self, database="session", user="postgres", autocommit=True, prepare_threshold=None, **options):
        words = {"host": "127.0.0.1", "port": self.port, "user": user, "dbname": database, "connect_timeout": 20, **options}
        return psycopg.connect(**words, autocommit=autocommit, prepare_threshold=prepare_threshold)

    def admin(self, command, *columns):
        """An answer of the admin console: of all rows the columns."""
        with self.connect("pgbouncer") as connection:
            cursor = connection.execute(command)
            if not cursor.description:
                return cursor.statusmessage
            names = [column.name for column in cursor.description]
            return [[row[names.index(column)] for column in columns] for row in cursor] if columns else names


@contextlib.contextmanager
def pooler(settings, users="", database_options=""):
    home, port = tempfile.mkdtemp(prefix="ouzel-pgbouncer-"), free_port()
    as_user = ["-u", "postgres"] if os.geteuid() == 0 else []  # pgbouncer refuses to run as root
    place = f"host={SERVER['host']} port={SERVER['port']} dbname={SERVER['dbname']} {database_options}"
    words = {"listen_addr": "127.0.0.1", "listen_port": port, "unix_socket_dir": home, "auth_type": "trust", "auth_file": f"{home}/users", "admin_users": "postgres", "default_pool_size": 1, "server_login_retry": 1, **settings}
    with open(f"{home}/ini", "w") as file:
        file.write("[databases]\n" + "".join(f"{mode} = {place} pool_mode={mode}\n" for mode in (*MODES, "statement")) + f"forced = {place} user=bouncer_forced\nwide = {place} pool_size=5 pool_mode=transaction\n"
                   "no_such = " + place.replace(SERVER["dbname"], "no_such_database") + "\n[pgbouncer]\n" + "".join(f"{name} = {value}\n" for name, value in words.items()))
    with open(f"{home}/users", "w") as file:
        file.write('"postgres" ""\n"bouncer_guest" ""\n' + users)
    if os.geteuid() == 0:
        for path in (home, f"{home}/ini", f"{home}/users"):
            shutil.chown(path, "postgres")
    with open(f"{home}/log", "w") as log:
        process = subprocess.Popen([binary, "-q", *as_user, f"{home}/ini"], stdout=log, stderr=log)
    try:
        for _ in range(200):
            try:
                psycopg.connect(host="127.0.0.1", port=port, user="nobody", dbname="no_database", connect_timeout=5).close()
            except psycopg.OperationalError as error:
                if "refused" not in str(error):
                    break
                time.sleep(0.05)
        yield Pooler(home, port)
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(home, ignore_errors=True)


def test(*variants, users="", database_options="", **settings):
    """A test, or one for each variant, with settings of pgbouncer's."""
    def enter(function):
        for one in variants or (None,):
            call = function if one is None else lambda pool, one=one: function(pool, one)
            TESTS[function.__name__ + (f"_{one}" if one else "")] = (call, users, database_options, settings)
        return function
    return enter


def failure(action, *arguments, **options):
    """What goes wrong, or what comes out."""
    try:
        found = action(*arguments, **options)
        if isinstance(found, psycopg.Cursor):
            return found.fetchall() if found.description else found.statusmessage
        return "connected" if isinstance(found, psycopg.Connection) else found
    except psycopg.Error as error:
        found = [error.diag.sqlstate, error.diag.message_primary, error.diag.message_detail, error.diag.context]
        return found if any(found) else re.sub(r"port \d+|\(127.0.0.1\)|\"127.0.0.1\",? ?", "", str(error))


def one(connection, query, *values):
    return connection.execute(query, values or None).fetchone()[0]


def pid(connection):
    return one(connection, "SELECT pg_backend_pid()")


# Who is let in.
@test(*MODES, "statement", "forced", "wide")
def database(pool, name):
    with pool.connect(name) as connection:
        return connection.execute("SELECT current_user, session_user, current_database(), pg_backend_pid() > 0").fetchone(), connection.info.server_version // 10000


@test("guest", "stranger", "nobody")
def user(pool, name):
    return failure(lambda: one(pool.connect(user={"guest": "bouncer_guest", "stranger": "bouncer_stranger"}.get(name, name)), "SELECT current_user"))


@test("no_such", "unlisted")
def database_missing(pool, name):
    return failure(lambda: pool.connect(name).execute("SELECT 1"))


@test("right", "wrong", "none", users='"bouncer_a" "secret"\n', auth_type="scram-sha-256")
def scram_of_file(pool, password):
    return failure(lambda: one(pool.connect(user="bouncer_a", **{"right": {"password": "secret"}, "wrong": {"password": "other"}, "none": {}}[password]), "SELECT current_user"))


@test("right", "wrong", users='"bouncer_a" "secret"\n', auth_type="md5")
def md5_of_file(pool, password):
    return failure(lambda: one(pool.connect(user="bouncer_a", password={"right": "secret", "wrong": "other"}[password]), "SELECT current_user"))


@test("right", "wrong", auth_type="any")
def any_user(pool, name):
    return failure(lambda: one(pool.connect("forced", user=name), "SELECT current_user"))


QUERY = {"auth_user": "postgres", "auth_query": "SELECT usename, passwd FROM pg_shadow WHERE usename = $1"}


@test("right", "wrong", auth_type="scram-sha-256", **QUERY)
def scram_of_query(pool, password):
    """The secret is the server's."""
    return failure(lambda: one(pool.connect(user="bouncer_scram", password={"right": "secret", "wrong": "other"}[password]), "SELECT current_user"))


@test("right", "wrong", auth_type="md5", **QUERY)
def md5_of_query(pool, password):
    with psycopg.connect(server_place, autocommit=True) as direct:
        direct.execute("DROP ROLE IF EXISTS bouncer_md5; SET password_encryption = 'md5'; CREATE ROLE bouncer_md5 LOGIN PASSWORD 'secret'")
    return failure(lambda: one(pool.connect(user="bouncer_md5", password={"right": "secret", "wrong": "other"}[password]), "SELECT current_user"))


@test("bouncer_unknown", "bouncer_guest", auth_type="md5", **QUERY)
def user_of_query(pool, name):
    return failure(lambda: one(pool.connect(user=name, password="x"), "SELECT current_user"))


@test(auth_type="scram-sha-256", auth_user="postgres", auth_query="SELECT * FROM bouncer_lookup($1)")
def function_of_query(pool):
    return failure(lambda: one(pool.connect(user="bouncer_scram", password="secret"), "SELECT current_user"))


@test(auth_type="scram-sha-256", auth_user="postgres", auth_query="SELECT nothing FROM nowhere WHERE a = $1")
def wrong_query(pool):
    return failure(lambda: one(pool.connect(user="bouncer_scram", password="secret"), "SELECT current_user"))


@test()
def unix_socket(pool):
    with pool.connect(host=pool.home) as connection:
        return one(connection, "SELECT 1")


@test(max_client_conn=2)
def too_many_clients(pool):
    kept = [pool.connect(), pool.connect("transaction")]
    return failure(pool.connect), [connection.close() for connection in kept]


@test("disable", "prefer")
def server_tls(pool, mode):
    with pooler({"server_tls_sslmode": mode}) as other, other.connect() as connection:
        return one(connection, "SELECT 7")


# What one client leaves to the next.
LEFT = ["SET work_mem = '7MB'", "CREATE TEMP TABLE left_here (a int)", "PREPARE left_too AS SELECT 1", "LISTEN left_channel", "SELECT pg_try_advisory_lock(pg_backend_pid())", "DECLARE left_cursor CURSOR WITH HOLD FOR SELECT 1", "SET ROLE bouncer_guest",
        "CREATE TEMP SEQUENCE left_sequence", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"]


def left(connection):
    return [connection.execute(query).fetchall() for query in (
        "SHOW work_mem", "SELECT relname FROM pg_class WHERE relname LIKE 'left_%' AND pg_table_is_visible(oid)", "SELECT name FROM pg_prepared_statements", "SELECT pg_listening_channels()", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
        "SELECT name FROM pg_cursors WHERE name <> ''", "SELECT current_user", "SHOW transaction_read_only")]


def between(pool, mode):
    with pool.connect(mode) as first:
        before = pid(first)
        for statement in LEFT:
            failure(first.execute, statement)
    with pool.connect(mode) as second:
        return pid(second) == before, left(second)


for query in ("DISCARD ALL", "RESET ALL", "DEALLOCATE ALL; CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all()", "", "DISCARD PLANS; DISCARD TEMP; DISCARD SEQUENCES"):
    for always in (0, 1):
        TESTS[f"reset_{re.sub('[^A-Z]+', '_', query).strip('_')}_{always}"] = (
            lambda pool: [between(pool, mode) for mode in MODES], "", "", {"server_reset_query": query, "server_reset_query_always": always})


@test()
def reset_fails(pool):
    with pooler({"server_reset_query": "SELECT 1 / 0"}) as other:
        with other.connect() as first:
            before = pid(first)
        with other.connect() as second:
            return pid(second) == before


@test(database_options="connect_query='SET work_mem = ''9MB'''")
def connect_query(pool):
    with pool.connect() as connection:
        return one(connection, "SHOW work_mem")


# Pools of transactions and statements.
@test(*MODES)
def shared(pool, mode):
    """Two clients at the same time have one server in turns, or the second has to wait."""
    first = pool.connect(mode)
    servers = [pid(first)]
    if mode == "session":
        first.close()
        first = None
    second = pool.connect(mode)
    for connection in filter(None, (second, first, second)):
        servers.append(pid(connection))
    return len(set(servers))


@test("statement", *MODES)
def transactions(pool, mode):
    connection = pool.connect(mode)
    found = [failure(connection.execute, statement) for statement in ("BEGIN", "INSERT INTO bouncer_t VALUES (1, 'a')", "SAVEPOINT a", "SELECT 1 / 0", "ROLLBACK TO a", "COMMIT", "SELECT * FROM bouncer_t")]
    return found, connection.closed


@test(*MODES)
def waiting(pool, mode):
    """A client waits for the one server until the other's transaction is over."""
    first, seen = pool.connect("transaction", autocommit=False), []
    first.execute("INSERT INTO bouncer_t VALUES (1, 'first')")

    def work():
        with pool.connect("transaction") as second:
            seen.append(one(second, "SELECT count(*) FROM bouncer_t"))
    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    early = list(seen)
    (first.commit if mode == "session" else first.rollback)()
    thread.join(20)
    return early, seen


@test()
def many_clients(pool):
    """More clients than servers, which write at the same time."""
    def work(i):
        with pool.connect("wide", autocommit=False) as connection:
            for j in range(5):
                with connection.transaction():
                    connection.execute("INSERT INTO bouncer_t VALUES (%s, %s)", (i, str(j)))
                    connection.execute("UPDATE bouncer_count SET n = n + 1")
    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    with pool.connect() as connection:
        return connection.execute("SELECT count(*), sum(a), (SELECT n FROM bouncer_count) FROM bouncer_t").fetchone()


@test(*MODES)
def client_gone(pool, mode):
    """One goes in the middle of its transaction: its server is not given on."""
    first = pool.connect(mode, autocommit=False)
    before = pid(first)
    first.execute("INSERT INTO bouncer_t VALUES (1, 'lost')")
    first.close()
    with pool.connect(mode) as second:
        return pid(second) == before, one(second, "SELECT count(*) FROM bouncer_t"), second.info.transaction_status.name


@test(*MODES)
def local_settings(pool, mode):
    connection = pool.connect(mode)
    with connection.transaction():
        connection.execute("SET LOCAL work_mem = '3MB'; SELECT pg_advisory_xact_lock(5)")
        inside = one(connection, "SHOW work_mem")
    return inside, one(connection, "SHOW work_mem"), one(connection, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")


@test(*MODES)
def two_phases(pool, mode):
    connection = pool.connect(mode)
    return [failure(connection.execute, statement) for statement in ("BEGIN", "INSERT INTO bouncer_t VALUES (1, 'p')", "PREPARE TRANSACTION 'bouncer_x'", "SELECT gid FROM pg_prepared_xacts", "COMMIT PREPARED 'bouncer_x'", "SELECT count(*) FROM bouncer_t")]


# The protocol.
@test()
def prepared(pool):
    with pool.connect(prepare_threshold=5) as connection:
        rows = [connection.execute("SELECT %s::int + 1", (i,), prepare=True).fetchone()[0] for i in range(8)]
        names = one(connection, "SELECT count(*) FROM pg_prepared_statements")
    with pool.connect(prepare_threshold=5) as connection:
        return rows, names, one(connection, "SELECT count(*) FROM pg_prepared_statements"), connection.execute("SELECT %s::int + 1", (5,), prepare=True).fetchall()


@test()
def prepared_in_transactions(pool):
    first, second = pool.connect("transaction", prepare_threshold=5), pool.connect("transaction", prepare_threshold=5)
    return [failure(connection.execute, "SELECT %s::int", (1,), prepare=True) for connection in (first, second, first)]


@test(*MODES)
def unnamed(pool, mode):
    connection = pool.connect(mode)
    return [connection.execute("SELECT %s::text, %s::int[], %s::numeric", (f"a{i}", [i, None], i), binary=binary_format).fetchone() for i in range(3) for binary_format in (False, True)]


@test(*MODES)
def pipeline(pool, mode):
    connection = pool.connect(mode)
    with connection.pipeline():
        cursors = [connection.execute("SELECT %s::int", (i,)) for i in range(20)]
        rows = [cursor.fetchone()[0] for cursor in cursors]

    def broken():
        with connection.pipeline():
            connection.execute("INSERT INTO bouncer_t VALUES (9, 'kept')")
            connection.execute("SELECT 1 / 0")
            connection.execute("SELECT 2")
    return rows, failure(broken), one(connection, "SELECT count(*) FROM bouncer_t")


@test(*MODES)
def cursors(pool, mode):
    connection = pool.connect(mode, autocommit=False)
    with connection.cursor("named", scrollable=True) as cursor:
        cursor.execute("SELECT i FROM generate_series(1, 1000) AS i")
        found = [cursor.fetchmany(3), cursor.scroll(500), cursor.fetchone(), len(cursor.fetchall())]
    connection.rollback()
    return found


@test(*MODES)
def copies(pool, mode):
    connection = pool.connect(mode)
    with connection.cursor() as cursor:
        with cursor.copy("COPY bouncer_t FROM STDIN") as copy:
            for i in range(5000):
                copy.write_row((i, "x" * (i % 100)))
        with cursor.copy("COPY (SELECT * FROM bouncer_t ORDER BY a LIMIT 3) TO STDOUT (FORMAT csv)") as copy:
            out = b"".join(bytes(block) for block in copy).decode()

        def broken():
            with cursor.copy("COPY bouncer_t FROM STDIN") as copy:
                copy.write("not a number\tx\n")

        def given_up():
            with cursor.copy("COPY bouncer_t FROM STDIN") as copy:
                copy.write("1\tx\n")
                raise psycopg.DataError("given up")
        return out, failure(broken)[:2], failure(given_up), one(connection, "SELECT count(*) FROM bouncer_t")


@test(*MODES)
def cancel(pool, mode):
    connection = pool.connect(mode)
    timer = threading.Timer(0.5, connection.cancel)
    timer.start()
    found = failure(connection.execute, "SELECT pg_sleep(30)")
    timer.join()
    return found, one(connection, "SELECT 1")


@test()
def cancel_of_nothing(pool):
    connection = pool.connect("transaction")
    before = pid(connection)
    connection.cancel()
    time.sleep(0.2)
    return one(connection, "SELECT 1"), pid(connection) == before


@test(query_wait_timeout=3)
def cancel_of_waiting(pool):
    """The server is another client's, who is not to be disturbed."""
    first, second = pool.connect("transaction", autocommit=False), pool.connect("transaction")
    first.execute("SELECT 1")
    timer = threading.Timer(0.5, second.cancel)
    timer.start()
    found = failure(second.execute, "SELECT 2")
    timer.join()
    return found, one(first, "SELECT 3")


@test()
def notifications(pool):
    with pooler({"default_pool_size": 2}) as other:
        listener, sender = other.connect(), other.connect("transaction")
        listener.execute("LISTEN bouncer_channel")
        for i in range(3):
            sender.execute("SELECT pg_notify('bouncer_channel', %s)", (str(i),))
        return [[notice.channel, notice.payload] for notice in listener.notifies(timeout=5, stop_after=3)]


@test(*MODES)
def messages(pool, mode):
    connection, seen = pool.connect(mode), []
    connection.add_notice_handler(lambda diag: seen.append([diag.severity, diag.sqlstate, diag.message_primary]))
    found = [failure(connection.execute, statement) for statement in ("DO $$ BEGIN RAISE NOTICE 'noted'; RAISE WARNING 'warned'; END $$", "DROP TABLE IF EXISTS nothing_here", "SELEC", "SELECT 1 / 0", "SELECT * FROM nothing_here", "INSERT INTO bouncer_t VALUES (-1, 'x')")]
    return found, seen


@test(*MODES)
def large(pool, mode):
    connection = pool.connect(mode)
    return (one(connection, "SELECT length(%s::text)", "y" * 3000000), len(one(connection, "SELECT repeat('x', 2000000)")), len(connection.execute("SELECT i, 'row ' || i FROM generate_series(1, 50000) AS i").fetchall()),
            one(connection, "SELECT 1 /* " + "z" * 1000000 + " */"))


@test(*MODES)
def several_statements(pool, mode):
    connection = pool.connect(mode)
    cursor, found = connection.execute("SELECT 1; INSERT INTO bouncer_t VALUES (1, 'm'); SELECT a FROM bouncer_t; BEGIN; ROLLBACK"), []
    while True:
        found.append(cursor.fetchall() if cursor.description else cursor.statusmessage)
        if not cursor.nextset():
            return found, failure(connection.execute, "INSERT INTO bouncer_t VALUES (2, 'n'); SELECT 1 / 0"), one(connection, "SELECT count(*) FROM bouncer_t")


# Parameters that go with a client.
TRACKED = {"client_encoding": ("LATIN1", "UTF8"), "datestyle": ("German, DMY", "ISO, YMD"), "timezone": ("America/New_York", "Asia/Tokyo"), "application_name": ("one", "two"), "standard_conforming_strings": ("off", "on")}


@test(*TRACKED)
def tracked(pool, name):
    """Two clients with a server: each has its own value."""
    first, second = pool.connect("transaction"), pool.connect("transaction")
    found = []
    for connection, value in zip((first, second), TRACKED[name]):
        connection.execute(f"SET {name} TO '{value}'" if name != "datestyle" else f"SET datestyle TO {value}")
    for connection in (first, second, first):
        found.append([one(connection, f"SHOW {name}"), connection.pgconn.parameter_status({"datestyle": b"DateStyle", "timezone": b"TimeZone"}.get(name, name.encode())).decode()])
    return found


@test("client_encoding", "application_name", "datestyle", "timezone")
def tracked_from_start(pool, name):
    found = []
    variable = {"datestyle": "PGDATESTYLE", "timezone": "PGTZ"}.get(name)  # what libpq reads
    clients = []
    for value in TRACKED[name]:
        if variable:
            os.environ[variable] = value
        clients.append(pool.connect("transaction", **({} if variable else {name: value})))
        os.environ.pop(variable or "", None)
    for connection in (*clients, *clients):
        found.append(connection.execute(f"SELECT current_setting('{name}'), timestamptz '2024-02-01 00:00:00+00' || ''").fetchone())
    return found


@test()
def untracked(pool):
    first, second = pool.connect("transaction"), pool.connect("transaction")
    first.execute("SET work_mem = '5MB'; SET search_path = pg_catalog")
    return one(second, "SHOW work_mem"), one(second, "SHOW search_path")


@test()
def statuses(pool):
    """Those that pgbouncer has from the server when it lets a client in."""
    connection = pool.connect()
    names = ("server_encoding", "client_encoding", "is_superuser", "session_authorization", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings", "application_name", "default_transaction_read_only", "in_hot_standby")
    return [[name, value.decode() if (value := connection.pgconn.parameter_status(name.encode())) is not None else None] for name in names]


@test()
def startup_refused(pool):
    return failure(pool.connect, options="-c work_mem=3MB")


@test(ignore_startup_parameters="options, extra_float_digits")
def startup_ignored(pool):
    with pool.connect(options="-c work_mem=3MB") as connection:
        return one(connection, "SHOW work_mem") == "3MB"


@test(application_name_add_host=1)
def name_with_host(pool):
    with pool.connect(application_name="app") as connection:
        return re.sub(r":\d+", "", one(connection, "SHOW application_name"))


# Servers that are checked, that end, that are late.
@test("select 1", "SELECT count(*) FROM pg_class", ";", "<empty>", server_check_delay=0)
def check_query(pool, query):
    with pooler({"server_check_query": "" if query == "<empty>" else query, "server_check_delay": 0}) as other:
        with other.connect() as first:
            before = pid(first)
        with other.connect() as second:
            return pid(second) == before


@test(server_check_query="SELECT 1 / 0", server_check_delay=0)
def check_fails(pool):
    with pool.connect() as first:
        before = pid(first)
    with pool.connect() as second:
        return pid(second) == before


@test(*MODES)
def server_ended(pool, mode):
    first = pool.connect(mode)
    before = pid(first)
    if mode == "session":
        first.close()
    with psycopg.connect(server_place, autocommit=True) as direct:
        direct.execute("SELECT pg_terminate_backend(%s, 5000)", (before,))
    time.sleep(0.3)
    with pool.connect(mode) as second:
        return pid(second) == before, one(second, "SELECT 1")


@test(*MODES)
def server_ended_in_transaction(pool, mode):
    first = pool.connect(mode, autocommit=False)
    with psycopg.connect(server_place, autocommit=True) as direct:
        direct.execute("SELECT pg_terminate_backend(%s, 5000)", (pid(first),))
    time.sleep(0.3)
    return failure(first.execute, "SELECT 1"), first.closed


@test(query_timeout=1)
def query_timeout(pool):
    return failure(pool.connect().execute, "SELECT pg_sleep(20)")


@test(idle_transaction_timeout=1)
def idle_transaction_timeout(pool):
    connection = pool.connect(autocommit=False)
    connection.execute("SELECT 1")
    time.sleep(2.5)
    return failure(connection.execute, "SELECT 2")


@test(query_wait_timeout=1)
def query_wait_timeout(pool):
    first = pool.connect("transaction", autocommit=False)
    first.execute("SELECT 1")
    return failure(lambda: pool.connect("transaction").execute("SELECT 2"))


@test(server_lifetime=1)
def server_lifetime(pool):
    connection = pool.connect("transaction")
    before = pid(connection)
    time.sleep(2.5)
    return pid(connection) == before


@test(server_idle_timeout=1)
def server_idle_timeout(pool):
    connection = pool.connect("transaction")
    before = pid(connection)
    time.sleep(2.5)
    return pid(connection) == before


# The admin console.
@test()
def show_pools(pool):
    first, second = pool.connect("session"), pool.connect("transaction", autocommit=False)
    one(first, "SELECT 1"), one(second, "SELECT 1")
    return pool.admin("SHOW POOLS", "database", "user", "cl_active", "cl_waiting", "sv_active", "sv_idle", "sv_used", "maxwait", "pool_mode")


@test()
def show_servers(pool):
    first = pool.connect("session", application_name="shown")
    one(first, "SELECT 1")
    return pool.admin("SHOW SERVERS", "type", "user", "database", "state", "application_name"), pool.admin("SHOW CLIENTS", "type", "user", "database", "state", "application_name")[:1]


@test()
def show_stats(pool):
    connection = pool.connect("transaction")
    for _ in range(7):
        one(connection, "SELECT 1")
    with connection.transaction():
        connection.execute("SELECT 1"), connection.execute("SELECT 2")
    time.sleep(0.2)
    return pool.admin("SHOW STATS_TOTALS", "database", "xact_count", "query_count")


@test()
def pausing(pool):
    connection, seen = pool.connect("transaction"), []
    before = pid(connection)
    found = [pool.admin("PAUSE transaction")]
    thread = threading.Thread(target=lambda: seen.append(pid(connection)))
    thread.start()
    time.sleep(0.4)
    early = list(seen)
    found.append(pool.admin("RESUME transaction"))
    thread.join(20)
    return found, early, [one == before for one in seen]


@test("RECONNECT", "RELOAD", "DISABLE transaction", "KILL transaction", "SUSPEND")
def administered(pool, command):
    connection = pool.connect("transaction")
    before = pid(connection)
    found = [pool.admin(command)]
    if command.startswith("RECONNECT"):
        found.append(pool.admin("WAIT_CLOSE"))
    if command.startswith("SUSPEND"):
        return found
    found.append(failure(pool.connect, "transaction") if command.startswith("DISABLE") else "")
    if command.startswith("KILL"):
        return [*found, failure(connection.execute, "SELECT 1"), pool.admin("RESUME transaction"), one(pool.connect("transaction"), "SELECT 1")]
    if command.startswith("DISABLE"):
        found.append(pool.admin("ENABLE transaction"))
    return [*found, pid(connection) == before]


@test()
def libpq_calls(pool):
    """What a program sees of a connection."""
    connection = pool.connect("transaction")
    raw = connection.pgconn
    result = raw.exec_(b"SELECT 1 AS a, 'x'::text AS b")
    return raw.status == pq.ConnStatus.OK, pq.TransactionStatus(raw.transaction_status).name, [raw.server_version // 10000, raw.protocol_version], [result.fname(i).decode() for i in range(result.nfields)], [result.ftype(i) for i in range(result.nfields)], raw.exec_(b"").status


SETUP = """
DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO public;
DO $$ BEGIN CREATE ROLE bouncer_guest LOGIN; CREATE ROLE bouncer_forced LOGIN; CREATE ROLE bouncer_a LOGIN; SET password_encryption = 'scram-sha-256'; CREATE ROLE bouncer_scram LOGIN PASSWORD 'secret'; EXCEPTION WHEN duplicate_object THEN END $$;
CREATE TABLE bouncer_t (a int CHECK (a >= 0), b text); CREATE TABLE bouncer_count (n int); INSERT INTO bouncer_count VALUES (0); GRANT ALL ON bouncer_t, bouncer_count TO public;
CREATE FUNCTION bouncer_lookup(name text) RETURNS TABLE (usename name, passwd text) LANGUAGE sql SECURITY DEFINER AS $$ SELECT usename, passwd FROM pg_shadow WHERE usename = name $$;
"""


def main():
    chosen = sys.argv[3] if len(sys.argv) > 3 else ""
    for name, (function, users, database_options, settings) in TESTS.items():
        if not re.search(chosen, name):
            continue
        try:
            with psycopg.connect(server_place, autocommit=True) as direct:
                direct.execute("SET client_min_messages = error; SET lock_timeout = '20s'; " + SETUP)
                direct.execute(f"ALTER DATABASE {SERVER['dbname']} SET statement_timeout = '40s'")
            with pooler(settings, users, database_options) as pool:
                value = json.loads(json.dumps(function(pool), default=str))
            print(json.dumps({"name": name, "value": value}), flush=True)
        except Exception as wrong:  # noqa: BLE001: any failure is one
            print(json.dumps({"name": name, "error": f"{type(wrong).__name__}: {wrong}"}), flush=True)


if __name__ == "__main__":
    main()
