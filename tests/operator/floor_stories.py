"""What once had to fit into memory: input and state that are many times the memory limit, of one group, of one recursion, of one scan.
The answers are right, and the process stays within its limit and 192 MiB."""
import subprocess

from mistake import check

LIMIT_MB, BEYOND_MB = 64, 192
ROWS = 800_000
FILL = f"""CREATE TABLE big AS SELECT g AS n, 'text number ' || md5(g::text) AS s FROM generate_series(1, {ROWS}) g;
CREATE TABLE wide AS SELECT g AS n, repeat(md5(g::text), 256) AS s FROM generate_series(1, 20000) g;
CREATE TABLE huge AS SELECT g AS n, repeat(md5(g::text), 4096) AS s FROM generate_series(1, 1000) g;
CHECKPOINT"""
DIGITS = sum(len(str(n)) for n in range(1, ROWS + 1))
STATEMENTS = [
    ("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n DESC), percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY n) FROM big",
     f"{ROWS // 2 + 1}|{{{1 + 0.25 * (ROWS - 1)},{1 + 0.75 * (ROWS - 1)}}}"),
    ("SELECT mode() WITHIN GROUP (ORDER BY s) = min(s), percentile_disc(1) WITHIN GROUP (ORDER BY s) = max(s), "
     "dense_rank('z') WITHIN GROUP (ORDER BY s) FROM big", f"t|t|{ROWS + 1}"),
    ("SELECT length(string_agg(n::text, ',' ORDER BY s)), count(DISTINCT s) FROM big", f"{DIGITS + ROWS - 1}|{ROWS}"),
    ("SELECT a[1], a[400000], array_length(a, 1) FROM (SELECT array_agg(n ORDER BY n DESC) AS a FROM big) x", f"{ROWS}|{ROWS - 399_999}|{ROWS}"),
    ("SELECT array_length(array_agg(DISTINCT n % 1000), 1), length(string_agg(DISTINCT left(s, 15), '')) FROM big", f"1000|{15 * 4096}"),
    ("SELECT count(*), sum(m) FROM (SELECT n % 2, percentile_disc(0.5) WITHIN GROUP (ORDER BY s) IS NULL AS x, "
     "percentile_disc(0) WITHIN GROUP (ORDER BY n) AS m FROM big GROUP BY 1) x", "2|3"),
    (f"WITH RECURSIVE r(n) AS (SELECT n FROM big UNION SELECT n + {ROWS // 2} FROM r WHERE n <= {ROWS + ROWS // 2}) SELECT count(*), sum(n) FROM r",
     f"{2 * ROWS}|{ROWS * (2 * ROWS + 1)}"),
    ("SELECT count(*), sum(r - n), sum(length(s)) FROM (SELECT n, s, row_number() OVER (ORDER BY n) AS r FROM wide) x", f"20000|0|{20000 * 8192}"),
    ("SELECT count(*), sum(n) FROM (SELECT n, s FROM wide ORDER BY n / 1000000 FETCH FIRST 1 ROW WITH TIES) x", f"20000|{20000 * 20001 // 2}"),
    ("SELECT count(*), sum(length(s)) FROM (SELECT s, count(*) FROM huge GROUP BY s) x", f"1000|{1000 * 131072}"),
    ("SELECT count(*), sum(r - n) FROM (SELECT n, s, row_number() OVER (ORDER BY n) AS r FROM huge) x WHERE length(s) > 0", "1000|0"),
    # Half of the rows are of one partition, the others of 334: workers write the rows to pages, and copy whole partitions into memory.
    ("SELECT count(p), sum(length(s)) FROM (SELECT s, lag(n) OVER (PARTITION BY CASE WHEN n % 5 < 2 THEN n / 60 ELSE -1 END ORDER BY n) AS p FROM wide) x",
     f"{20000 - 335}|{20000 * 8192}"),
    ("SELECT count(*), sum(length(a.s)) FROM huge a JOIN huge b ON a.s = b.s", f"1000|{1000 * 131072}"),
]


def peak_mb(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10


def copy_row(server, megabytes):
    """COPY FROM of one row; the complaint."""
    command = ["psql", "-XAtq", "-v", "VERBOSITY=verbose", "-d", f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres",
               "-c", "COPY long FROM STDIN"]
    return subprocess.run(command, input=b"x" * (megabytes << 20) + b"\n", capture_output=True, timeout=60).stderr.decode()


def floors(place):
    server = place.serve("--memory-limit", "1GB").wait_until_ready()
    place.others.append(server)
    server.sql(FILL)
    server.stop()
    server = place.serve("--memory-limit", f"{LIMIT_MB}MB", "--threads", "2").wait_until_ready()
    place.others.append(server)
    for statement, answer in STATEMENTS:
        given = server.sql(statement)
        check(given == answer, f"{statement}: {given}, not {answer}")
        check(peak_mb(server) <= LIMIT_MB + BEYOND_MB, f"{peak_mb(server)} MB are resident after {statement}")
    told = server.sql("EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(p) FROM (SELECT lag(s) OVER (ORDER BY n) AS p FROM big) x")
    check('"Ranges Of": "rows, written to pages"' in told, f"a partition is computed otherwise: {told}")
    # What is too long for a value is refused, and the server goes on.
    for statement in ("SELECT string_agg(repeat('x', 1000000), '') FROM big WHERE n <= 2000", "SELECT array_agg(repeat('x', 1000000)) FROM big WHERE n <= 2000"):
        complaint = server.sql(statement, fails=True)
        check("54000" in complaint or "53200" in complaint, f"{statement}: {complaint}")
    server.sql("CREATE TABLE long (t text)")
    check(copy_row(server, 5) == "" and server.sql("SELECT length(t) FROM long") == str(5 << 20), "a row of 5 MB is not copied")
    check("53200" in copy_row(server, 300), "a row of 300 MB is copied at a limit of 64 MB")
    check(peak_mb(server) <= LIMIT_MB + BEYOND_MB, f"{peak_mb(server)} MB are resident after a long row")
    check(server.sql("SELECT count(*) FROM big") == str(ROWS), "the server is gone")
    server.stop()


TELLS = {"input and state that outgrow memory": floors}
