"""psqlODBC, as Debian's odbc-postgresql has it, through pyodbc."""
import glob
import json
import os
import subprocess
import sys

from .program import ProgramSuite
from .suite import TIMEOUT

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs/odbc_tests.py")


class PsqlOdbc(ProgramSuite):
    package = "psqlodbc"
    what = "ours: values, parameters, cursors (UseDeclareFetch), catalog functions, transactions, options of the driver (pyodbc)"
    missing = []

    @property
    def python(self):
        return os.path.join(self.directory, "venv/bin/python")

    def install(self):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(self.directory, "venv")], check=True)
        subprocess.run([self.python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "pyodbc"], check=True)

    def version(self):
        asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "odbc-postgresql"], capture_output=True, text=True)
        return asked.stdout.split(":")[-1].split("-")[0]

    def words(self, server):
        server.fresh("odbc_suite")
        driver = glob.glob("/usr/lib/*/odbc/psqlodbcw.so")[0]
        command = [self.python, PROGRAM, driver, server.host, str(server.port), server.user, "odbc_suite"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT)
        return {name: tuple(found) for name, found in json.loads(done.stdout).items()}
