"""What the benchmarks share: their virtual environment, a free port, an Ouzel server to measure."""
import os
import shutil
import signal
import socket
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.path.join(ROOT, "build/release/ouzel")
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


class Server:
    """An Ouzel server process over `home`/ouzel; `options` as for `ouzel serve`."""

    def __init__(self, home, threads, memory, options=()):
        self.port = free_port()
        self.log = open(os.path.join(home, "ouzel.log"), "wb")
        self.process = subprocess.Popen([BINARY, "serve", "--data", os.path.join(home, "ouzel"), "--port", str(self.port), "--threads",
                                         str(threads), "--memory-limit", memory, *options], stdout=self.log, stderr=self.log)

    def status(self, field):
        """A line of /proc/PID/status in bytes, VmRSS or VmHWM."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))

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
