"""Programs that read all rows of a query through libpq, psqlODBC and pgJDBC, plainly or so many rows at a time, and what reading
costs a server: time, CPU, and memory beyond what it had."""
import glob
import os
import resource
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(HERE, "../../tests/clients")]
import jdbc_driver
import support

TICKS = os.sysconf("SC_CLK_TCK")


class Readers:
    """Compiled into `directory`. Each prints "rows sum seconds"."""

    def __init__(self, directory, clients):
        self.directory = directory
        self.make = {"libpq": self.make_libpq, "odbc": self.make_odbc, "jdbc": self.make_jdbc}
        for client in clients:
            self.make[client]()

    def compile(self, name, *options):
        target = os.path.join(self.directory, name)
        subprocess.run(["g++", "-std=c++20", "-O2", "-o", target, os.path.join(HERE, name + ".cpp"), *options], check=True)

    def make_libpq(self):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libpq"], check=True, capture_output=True, text=True)
        self.compile("libpq_reader", *flags.stdout.split())

    def make_odbc(self):
        self.compile("odbc_reader", "-lodbc")
        self.driver = glob.glob("/usr/lib/*/odbc/psqlodbcw.so")[0]

    def make_jdbc(self):
        self.jar = jdbc_driver.driver(os.path.join(support.ROOT, "build"))
        subprocess.run(["javac", "-cp", self.jar, "-d", self.directory, os.path.join(HERE, "JdbcReader.java")], check=True)

    def command(self, client, port, query, fetch):
        """`fetch`: rows at a time, 0 for the plain query."""
        if client == "libpq":
            return [os.path.join(self.directory, "libpq_reader"), f"host=127.0.0.1 port={port} user=postgres dbname=postgres", query, str(fetch)]
        if client == "odbc":
            cursor = f"UseDeclareFetch=1;Fetch={fetch}" if fetch else "UseDeclareFetch=0"
            return [os.path.join(self.directory, "odbc_reader"),
                    f"Driver={self.driver};Server=127.0.0.1;Port={port};Database=postgres;Uid=postgres;{cursor}", query]
        return ["java", "-Xmx8g", "-cp", f"{self.jar}:{self.directory}", "JdbcReader",
                f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=postgres", query, str(fetch)]


def cpu_seconds(pid):
    """Of the process and its children that have ended: PostgreSQL's backends."""
    with open(f"/proc/{pid}/stat") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15])) / TICKS


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return set(file.read().split())


class MemoryWatch:
    """What an Ouzel server's memory grows by inside `with`: `resident`, and what its ledger has for queries, both in bytes."""

    def __init__(self, server, connection):
        self.server, self.connection = server, connection
        self.resident = self.ledger = 0
        self.stop = threading.Event()

    def __enter__(self):
        with open(f"/proc/{self.server.process.pid}/clear_refs", "w") as file:
            file.write("5") # VmHWM begins anew
        self.before = self.server.status("VmRSS")
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.stop.wait(0.1):
            found = self.connection.execute("SELECT bytes FROM ouzel_stat_memory WHERE name = 'queries'").fetchone()
            self.ledger = max(self.ledger, found[0])

    def __exit__(self, *error):
        self.stop.set()
        self.thread.join()
        self.resident = self.server.status("VmHWM") - self.before


def read(command, pid):
    """Runs a reader beside the server `pid`: (rows, sum), and its seconds, wall and CPU of client and server together."""
    others, server, client = children(pid), cpu_seconds(pid), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout}\n{done.stderr}")
    after, deadline = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() + 10
    while children(pid) - others and time.monotonic() < deadline: # the time of PostgreSQL's backend is known when it has ended
        time.sleep(0.05)
    rows, values, seconds = done.stdout.split()
    cpu = cpu_seconds(pid) - server + after.ru_utime + after.ru_stime - client.ru_utime - client.ru_stime
    return (int(rows), int(values)), {"seconds": float(seconds), "cpu": cpu}
