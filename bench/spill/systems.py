"""The systems that bench/spill and bench/tpcds measure, each over tables in a directory of its own choice within `home`, with a memory limit
and a number of threads.

`load(csv, source)` once, where `source` has schema() and tables(); then query(); stop(). `resident()` is the peak of the process's memory, 0 where it is this very process."""
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import threading

import support

HERE = os.path.dirname(os.path.abspath(__file__))


def module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


tpch = module("tpch_workload", os.path.join(os.path.dirname(HERE), "tpch/workload.py"))
workload = module("spill_workload", os.path.join(HERE, "workload.py"))


class Ouzel:
    name = "ouzel"

    def __init__(self, home, threads, limit, args):
        self.server = support.Server(home, threads, limit, getattr(args, "options", []))
        self.connection = support.connect(self.server.port)
        self.connection.execute(f"SET statement_timeout = '{args.timeout}s'")
        if args.write_rate: self.connection.execute(f"SET ouzel.spill_write_rate = {args.write_rate}")
        if args.read_rate: self.connection.execute(f"SET ouzel.spill_read_rate = {args.read_rate}")
        if args.compression != "auto": self.connection.execute(f"SET ouzel.spill_compression = '{args.compression}'")

    def load(self, csv, source):
        support.load_csv(self.connection, source.schema(), source.tables(), csv)
        self.connection.execute("CHECKPOINT")

    def query(self, sql):
        return self.connection.execute(sql).fetchall()

    def set(self, **settings):
        """Underscores after `ouzel` are dots."""
        for name, value in settings.items():
            name = name.replace("ouzel_", "ouzel.", 1)
            self.connection.execute(f"SET {name} = '{value}'")

    def spilled(self):
        """Bytes written to temporary files since the start: as the operators gave them, and as they were stored."""
        return tuple(int(v) for v in self.query("SELECT sum(raw_bytes_written), sum(bytes_written) FROM ouzel_stat_spill")[0])

    def version(self):
        return support.version()

    def resident(self):
        return self.server.status("VmHWM")

    def stop(self):
        self.connection.close()
        self.server.stop()


class DuckDb:
    name = "duckdb"

    def __init__(self, home, threads, limit, args):
        import duckdb
        self.timeout = args.timeout
        self.connection = duckdb.connect(os.path.join(home, "duck.db"), config={"threads": threads, "memory_limit": limit, "preserve_insertion_order": False,
                                                                              "temp_directory": os.path.join(home, "duck.tmp")})

    def load(self, csv, source):
        support.load_csv_duckdb(self.connection, source.schema(), source.tables(), csv)

    def query(self, sql):
        alarm = threading.Timer(self.timeout, self.connection.interrupt)
        alarm.start()
        try:
            return self.connection.execute(sql).fetchall()
        finally:
            alarm.cancel()

    def version(self):
        return self.query("SELECT version()")[0][0]

    def resident(self):
        return 0

    def stop(self):
        self.connection.close()


class OldDuckDb(DuckDb):
    """DuckDB 0.9.2, which the paper on its external aggregation measured: a process over an environment of its own."""
    name = "duckdb-0.9.2"
    VENV = support.VENV + "-duckdb-0.9.2"

    @classmethod
    def python(cls):
        """An interpreter that has the library."""
        path = os.path.join(cls.VENV, "bin/python")
        if not os.path.exists(path):
            import sys
            subprocess.run([sys.executable, "-m", "venv", cls.VENV], check=True)
            subprocess.run([os.path.join(cls.VENV, "bin/pip"), "-q", "install", "duckdb==0.9.2"], check=True)
        return path

    def __init__(self, home, threads, limit, args):
        python = self.python()
        self.process = subprocess.Popen([python, os.path.join(HERE, "duckdb_process.py"), os.path.join(home, "duck-0.9.2.db"), str(threads), limit,
                                         os.path.join(home, "duck-0.9.2.tmp"), str(args.timeout)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.connection = self

    def execute(self, sql):
        self.process.stdin.write(json.dumps(sql) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line: raise RuntimeError(f"the process ended with {self.process.wait()}")
        reply = json.loads(line)
        if "error" in reply: raise RuntimeError(reply["error"])
        return reply["rows"]

    def query(self, sql):
        return self.execute(sql)

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), 0)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(120)


class Hyper:
    """Its `memory_limit` counts the process; there is no limit of one query, nor of the pages of the file it maps."""
    name = "hyper"

    def __init__(self, home, threads, limit, args):
        import tableauhyperapi as api
        self.timeout = args.timeout
        before = set(self.processes())
        self.process = api.HyperProcess(api.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU, parameters={
            "log_config": "", "hard_concurrent_query_thread_limit": str(threads), "memory_limit": limit.replace("GB", "g").replace("MB", "m")})
        self.pid = next(iter(set(self.processes()) - before), None)
        self.connection = api.Connection(self.process.endpoint, os.path.join(home, "hyper.hyper"), api.CreateMode.CREATE_IF_NOT_EXISTS)

    @staticmethod
    def processes():
        """Of hyperd, started by this process."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
                if name.startswith("hyperd") and int(rest.split()[1]) == os.getpid(): yield int(pid)
            except OSError:
                pass

    def load(self, csv, source):
        for statement in source.schema():
            self.connection.execute_command(statement)
        for table in source.tables():
            self.connection.execute_command(f"COPY {table} FROM '{os.path.join(csv, table)}.csv' WITH (FORMAT csv, HEADER)")

    def query(self, sql):
        alarm = threading.Timer(self.timeout, self.connection.cancel)
        alarm.start()
        try:
            with self.connection.execute_query(sql) as result:
                return [tuple(row) for row in result]
        finally:
            alarm.cancel()

    def version(self):
        return importlib.metadata.version("tableauhyperapi")

    def resident(self):
        if not self.pid: return 0
        with open(f"/proc/{self.pid}/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), 0)

    def stop(self):
        self.connection.close()
        self.process.close()


CLASSES = {c.name: c for c in (Ouzel, DuckDb, OldDuckDb, Hyper)}


class TpcH:
    """Where load() takes its tables from, unless it is told otherwise."""
    schema = staticmethod(tpch.schema)
    generate = staticmethod(support.generate)

    @staticmethod
    def tables():
        return tpch.TABLES


def load(home, names, scale, threads, args, source=TpcH):
    """Those of the systems that are not loaded yet in `home`."""
    os.makedirs(home, exist_ok=True)
    missing = [n for n in names if not os.path.exists(os.path.join(home, n + ".loaded"))]
    if not missing: return
    csv = os.path.join(home, "csv")
    source.generate(scale, csv)
    for name in missing:
        system = CLASSES[name](home, threads, "16GB", args)
        system.load(csv, source)
        system.stop()
        open(os.path.join(home, name + ".loaded"), "w").close()
    shutil.rmtree(csv)


def add_arguments(parser, scale=1):
    """What all benchmarks here take."""
    parser.add_argument("--scale", type=float, default=scale)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--home")
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--write-rate", type=int, default=0)
    parser.add_argument("--read-rate", type=int, default=0)
    parser.add_argument("--compression", default="auto")


def fits(system, sql, most=8192):
    """The smallest memory_limit in MB, to a fiftieth, with which the query spills nothing."""
    def spills(limit):
        system.set(memory_limit=f"{limit}MB")
        before = system.spilled()
        try:
            system.query(sql)
        except Exception as error:
            if getattr(error, "sqlstate", None) != "53200": raise
            return True
        return system.spilled() != before

    low, high = 1, most
    if spills(high): raise SystemExit(f"{most} MB are too few")
    while high - low > max(1, high // 50):
        middle = round((low * high) ** 0.5) if high > 2 * low else (low + high) // 2
        low, high = (middle, high) if spills(middle) else (low, middle)
    system.set(memory_limit=f"{most}MB")
    return high
