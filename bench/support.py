"""What the benchmarks share: their virtual environment, a free port, servers to measure, CSV files to load, results to keep.

The variable BENCH_BINARY names the Ouzel to measure, build/release/ouzel without it; BENCH_RESULTS the directory that results are kept in,
bench/results without it."""
import datetime
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.environ.get("BENCH_BINARY") or os.path.join(ROOT, "build/release/ouzel")
RESULTS = os.environ.get("BENCH_RESULTS") or os.path.join(ROOT, "bench/results")
VENV = os.path.join(ROOT, "build/bench-venv")
PACKAGES = ["duckdb", "tableauhyperapi", "chdb", "psycopg[binary]", "tpchgen-cli", "matplotlib", "numpy", "pyarrow"]


def ensure_venv():
    """Re-executes in a virtual environment that has the peers."""
    if sys.prefix == VENV:
        return
    if not os.path.exists(os.path.join(VENV, "bin/tpchgen-cli")):
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([os.path.join(VENV, "bin/pip"), "-q", "install", *PACKAGES], check=True)
    os.execv(os.path.join(VENV, "bin/python"), [os.path.join(VENV, "bin/python"), *sys.argv])


def free_port():
    """One that nobody listens on, of those in the variable BENCH_PORTS (FIRST-LAST) if it is set."""
    first, _, last = os.environ.get("BENCH_PORTS", "0-0").partition("-")
    for port in range(int(first), int(last) + 1):
        try:
            with socket.socket() as s:
                s.bind(("127.0.0.1", port))
                return s.getsockname()[1]
        except OSError:
            continue
    raise SystemExit("no port is free")


def generate(scale, directory):
    """TPC-H as CSV files with a header."""
    subprocess.run([os.path.join(VENV, "bin/tpchgen-cli"), "csv", "-s", str(scale), f"--output-dir={directory}"], check=True)


def connect(port, name="the server"):
    """A connection in autocommit mode to a server that speaks PostgreSQL's protocol, once it listens."""
    import psycopg
    for attempt in range(600):
        try:
            return psycopg.connect(f"host=127.0.0.1 port={port} user=postgres dbname=postgres", autocommit=True)
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise SystemExit(f"{name} does not start")


def load_csv(connection, schema, tables, directory):
    """The statements of `schema`, then TABLE.csv of each table, over the wire."""
    for statement in schema:
        connection.execute(statement)
    for table in tables:
        with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv, HEADER)") as copy:
            with open(os.path.join(directory, table + ".csv"), "rb") as file:
                while piece := file.read(1 << 20):
                    copy.write(piece)


def load_csv_duckdb(connection, schema, tables, directory):
    """The same in DuckDB, which reads the files itself."""
    for statement in schema:
        connection.execute(statement)
    for table in tables:
        connection.execute(f"COPY {table} FROM '{os.path.join(directory, table)}.csv' (FORMAT csv, HEADER)")
    connection.execute("CHECKPOINT")


def cpu_of_machine():
    """Seconds of CPU that all processes have taken since the start."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, interrupts, soft = map(int, file.readline().split()[1:8])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def version(binary=None):
    return subprocess.run([binary or BINARY, "--version"], capture_output=True, text=True).stdout.strip()


def machine():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{len(names)} x {names[0] if names else 'unknown'}, {memory:.0f} GiB"


def record(name, row):
    """Append to RESULTS/NAME.jsonl, with the commit that is checked out (+: and changes) and the machine."""
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty=+", "--exclude=*"], capture_output=True, text=True).stdout.strip()
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, name + ".jsonl"), "a") as file:
        file.write(json.dumps({"at": datetime.datetime.now().isoformat(timespec="seconds"), "commit": commit, "machine": machine(), **row}) + "\n")


class Server:
    """An Ouzel server process over `home`/ouzel; `options` as for `ouzel serve`."""

    def __init__(self, home, threads, memory, options=(), binary=None):
        self.port = free_port()
        self.log = open(os.path.join(home, "ouzel.log"), "wb")
        self.process = subprocess.Popen([binary or BINARY, "serve", "--data", os.path.join(home, "ouzel"), "--port", str(self.port), "--threads",
                                         str(threads), "--memory-limit", memory, *options], stdout=self.log, stderr=self.log)

    def status(self, field):
        """A line of /proc/PID/status in bytes, VmRSS or VmHWM."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))

    def cpu(self):
        """Seconds of CPU that the process has taken."""
        return time.clock_gettime(~self.process.pid << 3 | 2)  # what clock_getcpuclockid() makes of a process

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        self.log.close()


class PostgresServer:
    """A PostgreSQL 15 cluster of its own in `home`/postgres, with its defaults for durability: every commit reaches the disk."""
    BIN = "/usr/lib/postgresql/15/bin"

    def __init__(self, home, *settings):
        self.data, self.port = os.path.join(home, "postgres"), free_port()
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        os.makedirs(self.data)
        if self.as_user:
            os.chmod(home, 0o755)
            shutil.chown(self.data, "postgres")
        self.run(f"{self.BIN}/initdb", "-D", self.data, "-U", "postgres", "--locale=C", "--encoding=UTF8", "-A", "trust")
        options = [f"-p {self.port}", "-c listen_addresses=127.0.0.1", f"-c unix_socket_directories={self.data}"]
        options += [f"-c {setting}" for setting in settings]
        self.run(f"{self.BIN}/pg_ctl", "-w", "-D", self.data, "-l", os.path.join(self.data, "log"), "-o", " ".join(options), "start")

    def run(self, *command):
        subprocess.run(self.as_user + list(command), check=True, stdout=subprocess.DEVNULL, cwd="/")

    def pid(self):
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            return int(file.readline())

    def stop(self):
        self.run(f"{self.BIN}/pg_ctl", "-D", self.data, "-m", "fast", "stop")
