"""One workload in Ouzel, DuckDB and ClickHouse (chdb) at once: what bench/hits, bench/ssb and bench/joblight share.

A workload has a name, label() of its data, `tables` {name: [(column, type)]}, `keys` {table: ClickHouse's sorting key}, generate(directory),
which writes Parquet files TABLE-*.parquet, and queries(), a text in which a line "-- NUMBER key COLUMNS" begins each query. Before it is asked for them
it is told the `directory` of the files.

Answers are compared as multisets, floats to nine digits. Where LIMIT cuts among equal keys the systems may answer with different rows: then the
key columns are compared, whole rows only if their key is neither the last nor, after an OFFSET, the first. Without a key only the number of rows
is compared.

Beside the time stands the CPU time of the system's process, which depends less on what else a shared machine does. DuckDB and ClickHouse live in
this process, so what their threads do between queries counts for the one that is asked."""
import decimal
import glob
import json
import math
import os
import re
import shutil
import statistics
import tempfile
import threading
import time

import support

TOLERANCE = 1e-9


def load_parquet(connection, workload, directory):
    """In Ouzel and DuckDB."""
    for table, columns in workload.tables.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(f'{n} {t} NOT NULL' for n, t in columns)})")
        for file in sorted(glob.glob(os.path.join(directory, table + "-*.parquet"))):
            connection.execute(f"COPY {table} FROM '{file}' (FORMAT parquet)")


class Ouzel:
    name = "ouzel"

    def __init__(self, home, args):
        self.server = support.Server(home, args.threads, args.memory)
        self.connection = support.connect(self.server.port)
        self.connection.execute(f"SET statement_timeout = '{args.timeout}s'")

    def load(self, workload, directory):
        load_parquet(self.connection, workload, directory)
        self.connection.execute("ANALYZE")
        self.connection.execute("CHECKPOINT")

    def query(self, sql):
        return self.connection.execute(sql).fetchall()

    def cpu(self):
        return self.server.cpu()

    def version(self):
        return support.version()

    def stop(self):
        self.connection.close()
        print(f"ouzel: peak resident {self.server.status('VmHWM') / 2**20:.0f} MiB")
        self.server.stop()


class DuckDb:
    name = "duckdb"

    def __init__(self, home, args):
        import duckdb
        self.timeout = args.timeout
        self.connection = duckdb.connect(os.path.join(home, "duck.db"), config={
            "threads": args.threads, "memory_limit": args.memory, "preserve_insertion_order": False, "temp_directory": os.path.join(home, "duck.tmp")})

    def load(self, workload, directory):
        load_parquet(self.connection, workload, directory)
        self.connection.execute("CHECKPOINT")

    def query(self, sql):
        alarm = threading.Timer(self.timeout, self.connection.interrupt)
        alarm.start()
        try:
            return self.connection.execute(sql).fetchall()
        finally:
            alarm.cancel()

    def cpu(self):
        return time.process_time()

    def version(self):
        return self.connection.execute("select version()").fetchone()[0]

    def stop(self):
        self.connection.close()


class ClickHouse:
    """Has no limit of memory. Its tables lie in the order of their key, and parts are merged before the first query."""
    name = "clickhouse"
    TYPES = {"bigint": "Int64", "int": "Int32", "smallint": "Int16", "text": "String", "timestamp": "DateTime('UTC')", "date": "Date"}
    # Its avg() of integers wraps around, and in its strings \ is an escape.
    DIALECT = [("avg(userid)", "avg(toFloat64(userid))"), ("\\", "\\\\")]

    def __init__(self, home, args):
        from chdb.session import Session
        self.session = Session(os.path.join(home, "clickhouse"))
        self.session.query("CREATE DATABASE IF NOT EXISTS bench")
        self.session.query("USE bench")
        self.settings = f" SETTINGS max_threads = {args.threads}, max_execution_time = {args.timeout}"

    def load(self, workload, directory):
        for table, columns in workload.tables.items():
            self.session.query(f"CREATE TABLE {table} ({', '.join(f'{n} {self.TYPES[t]}' for n, t in columns)}) ENGINE = MergeTree ORDER BY ({workload.keys[table]})")
            for file in sorted(glob.glob(os.path.join(directory, table + "-*.parquet"))):
                self.session.query(f"INSERT INTO {table} SELECT * FROM file('{file}', Parquet)" + self.settings)
            self.session.query(f"OPTIMIZE TABLE {table} FINAL")

    def query(self, sql):
        for ours, its in self.DIALECT:
            sql = sql.replace(ours, its)
        reply = json.loads(str(self.session.query(sql + self.settings, "JSONCompact")))
        floats = [column["type"].startswith("Float") for column in reply["meta"]]  # one without a fraction looks like an integer
        return [[float(v) if is_float else v for v, is_float in zip(row, floats)] for row in reply["data"]]

    def cpu(self):
        return time.process_time()

    def version(self):
        return self.session.query("SELECT version()", "CSV").data().strip().strip('"')

    def stop(self):
        self.session.close()


def queries(text):
    """{number: (SQL, columns of the key, counted from 0)}."""
    parts = re.split(r"^-- (\d+)(?: key ([\d ]+))?$", text, flags=re.M)
    return {int(n): (sql.strip().rstrip(";"), [int(c) - 1 for c in (key or "").split()]) for n, key, sql in zip(parts[1::3], parts[2::3], parts[3::3])}


def normal(value):
    """One form for what drivers return for equal values."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value.as_tuple().exponent >= 0 else float(value)
    return value if isinstance(value, (int, float)) else str(value)


def close(a, b):
    """Integers have to be equal. Ouzel's average of large integers is one, where others have a float."""
    if a == b: return True
    return {type(a), type(b)} in ({float}, {int, float}) and math.isclose(a, b, rel_tol=TOLERANCE)


def same(left, right, sql, key):
    """Whether two answers agree, as far as the query determines them."""
    def agree(a, b):
        a, b = (sorted(rows, key=lambda row: ([v for v in row if isinstance(v, str)], [v for v in row if not isinstance(v, str)])) for rows in (a, b))
        return len(a) == len(b) and all(len(x) == len(y) and all(map(close, x, y)) for x, y in zip(a, b))

    if "limit" not in sql:
        return agree(left, right)
    if not key or len(left) != len(right) or not left:
        return len(left) == len(right)
    keys = [[[row[i] for i in key] for row in rows] for rows in (left, right)]
    cut = [keys[0][-1]] + ([keys[0][0]] if "offset" in sql else [])
    inner = [[row for row, k in zip(rows, ks) if not any(all(map(close, k, c)) for c in cut)] for rows, ks in zip((left, right), keys)]
    return agree(*keys) and agree(*inner)


def add_arguments(parser):
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", default="16GB", help="for Ouzel and for DuckDB")
    parser.add_argument("--timeout", type=int, default=300, help="of a query, in seconds")
    parser.add_argument("--queries", help="numbers; all by default")
    parser.add_argument("--no-chdb", action="store_true")
    parser.add_argument("--cache", help="directory that keeps the generated files")
    parser.add_argument("--show", action="store_true", help="print answers that differ")


def generated(workload, cache):
    """The directory of the files, which are made if they are not there."""
    directory = os.path.join(cache, workload.label())
    if not os.path.exists(directory):
        start = time.perf_counter()
        shutil.rmtree(directory + ".part", ignore_errors=True)
        os.makedirs(directory + ".part")
        workload.generate(directory + ".part")
        os.rename(directory + ".part", directory)
        print(f"generated in {time.perf_counter() - start:.1f} s", flush=True)
    return directory


def measure(system, sql):
    """Seconds, seconds of CPU, and rows; or no seconds, and the error."""
    start, cpu = time.perf_counter(), system.cpu()
    try:
        rows = system.query(sql)
    except Exception as error:
        return None, None, f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return time.perf_counter() - start, system.cpu() - cpu, [tuple(map(normal, row)) for row in rows]


def run(workload, args, described, examine=None):
    """Loads, measures, compares, prints and records; the number of answers of Ouzel that are missing or that a peer does not share.

    `examine`, if there is one, is called with Ouzel, the queries by number and its answers, and returns what is recorded beside the times."""
    home = tempfile.mkdtemp(prefix=f"bench-{workload.name}-", dir=os.environ.get("BENCH_DIR"))
    running = []
    try:
        directory = workload.directory = generated(workload, args.cache or home)
        loads, versions = {}, {}
        for kind in [Ouzel, DuckDb] + ([] if args.no_chdb else [ClickHouse]):
            system = kind(home, args)
            running.append(system)
            start = time.perf_counter()
            system.load(workload, directory)
            loads[system.name], versions[system.name] = time.perf_counter() - start, system.version()
            print(f"{system.name} {versions[system.name]}: loaded in {loads[system.name]:.1f} s", flush=True)
        asked = queries(workload.queries())
        if args.queries: asked = {int(n): asked[int(n)] for n in args.queries.split(",")}
        times = {s.name: {n: [] for n in asked} for s in running}
        wrong, failed, ours = {}, {}, {}
        for turn in range(args.runs + 1):
            for number, (sql, key) in asked.items():
                answers = {}
                for system in running:
                    if (system.name, number) in failed: continue
                    took, cpu, rows = measure(system, sql)
                    if took is None:
                        failed[system.name, number] = rows
                        print(f"Q{number} {system.name}: {rows}", flush=True)
                        continue
                    if turn: times[system.name][number].append((took, cpu))
                    answers[system.name] = rows
                if "ouzel" in answers: ours[number] = answers["ouzel"]
                others = [n for n, rows in answers.items() if n != "ouzel" and "ouzel" in answers and not same(answers["ouzel"], rows, sql, key)]
                if others and number not in wrong:
                    wrong[number] = others
                    print(f"Q{number}: {' and '.join(others)} answer otherwise than ouzel ({', '.join(f'{n} {len(rows)} rows' for n, rows in answers.items())})", flush=True)
                    if args.show: print("\n".join(f"   {n} {row}" for n, rows in answers.items() for row in rows[:25]))
        medians, cpus = ({name: {n: statistics.median(t[i] for t in taken) * 1000 for n, taken in by.items() if (name, n) not in failed}
                          for name, by in times.items()} for i in (0, 1))
        report("time", medians, list(asked), args.runs)
        report("CPU time", cpus, list(asked), args.runs)
        print(f"answers that differ: {sorted(wrong) or 'none'}; failed: {[f'{s} Q{n}' for s, n in failed] or 'none'}")
        examined = examine(running[0], asked, ours) if examine else {}
        support.record(workload.name, {
            **described, **examined, "seed": args.seed, "threads": args.threads, "memory": args.memory, "runs": args.runs, "versions": versions,
            "load": {n: round(v, 2) for n, v in loads.items()}, "ms": {name: {n: round(t, 2) for n, t in by.items()} for name, by in medians.items()},
            "cpu_ms": {name: {n: round(t, 2) for n, t in by.items()} for name, by in cpus.items()},
            "differ": sorted(wrong), "failed": sorted(f"{s} {n}" for s, n in failed)})
        return len(wrong) + sum(name == "ouzel" for name, _ in failed)
    finally:
        for system in running:
            system.stop()
        shutil.rmtree(home, ignore_errors=True)


def report(title, medians, numbers, runs):
    """Medians; Ouzel's as a multiple of the better peer's."""
    names = list(medians)
    print("\n       " + "".join(f"{n:>12}" for n in names) + f"{'ratio':>8}   ({title} in ms, median of {runs}; ratio to the better peer)")
    ratios = {}
    for number in numbers:
        peers = [medians[n][number] for n in names[1:] if number in medians[n]]
        if number in medians["ouzel"] and peers: ratios[number] = medians["ouzel"][number] / min(peers)
        cells = "".join(f"{medians[n][number]:12.1f}" if number in medians[n] else f"{'-':>12}" for n in names)
        print(f"Q{number:<6}" + cells + (f"{ratios[number]:8.2f}" if number in ratios else f"{'-':>8}") + ("  behind" if ratios.get(number, 0) > 1 else ""))
    for name in names[1:]:
        both = [medians["ouzel"][n] / medians[name][n] for n in numbers if n in medians["ouzel"] and n in medians[name]]
        if both: print(f"ouzel / {name}: geomean {statistics.geometric_mean(both):.2f} of {len(both)}")
    if ratios:
        behind = sorted((n for n in ratios if ratios[n] > 1), key=lambda n: -ratios[n])
        print(f"ouzel / better peer: geomean {statistics.geometric_mean(ratios.values()):.2f}, behind in {len(behind)} of {len(ratios)}: "
              + ", ".join(f"Q{n} {ratios[n]:.2f}" for n in behind))
