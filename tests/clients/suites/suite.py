"""What all suites of tools' own tests have in common. run() gives the outcome of each test: passed, failed or skipped. `missing`
names what fails in Ouzel for a reason that is known: a pattern of tests and the reason."""
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # where programs of our own are
TIMEOUT = 3600  # seconds for one run of a suite


class Server:
    """A server that runs, and its superuser. The referee is PostgreSQL, which runs a suite first."""

    def __init__(self, host, port, user="postgres", is_referee=False):
        self.host, self.port, self.user, self.is_referee = host, port, user, is_referee

    @property
    def place(self):
        """For whatever reads the environment as libpq does."""
        return {"PGHOST": self.host, "PGPORT": str(self.port), "PGUSER": self.user}

    def psql(self, database, *statements):
        command = ["psql", "-XAtq", "-h", self.host, "-p", str(self.port), "-U", self.user, "-d", database, "-v", "ON_ERROR_STOP=1"]
        for statement in statements:
            command += ["-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def fresh(self, *databases):
        for name in databases:
            self.psql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            self.psql("postgres", f"CREATE DATABASE {name}")

    def extend(self, database, *extensions):
        """Creates those of the extensions that the server has."""
        for name in self.psql(database, "SELECT name FROM pg_available_extensions").split():
            if name in extensions:
                self.psql(database, f"CREATE EXTENSION {name}")


class Suite:
    """Tests of one tool; a class for each says how they are had and run: install(), version(), run()."""
    package = ""           # the tool's name, and its directory's
    what = ""              # for the table
    missing = []           # (pattern of tests, reason)
    tools = {}             # programs that must be on the machine, and where they are if not on the PATH

    def __init__(self, directory):
        self.directory = os.path.join(directory, self.package)

    def tool(self, name):
        """Where a program is; None if it is not on this machine."""
        return shutil.which(name) or shutil.which(os.path.expanduser(self.tools[name]))

    def absent(self):
        return [name for name in self.tools if not self.tool(name)]

    def prepare(self):
        """Downloads and installs, unless that was done."""
        done = os.path.join(self.directory, "done")
        if os.path.exists(done):
            return
        os.makedirs(self.directory, exist_ok=True)
        self.install()
        open(done, "w").close()

    def install(self):
        raise NotImplementedError

    def version(self):
        raise NotImplementedError

    def run(self, server):
        raise NotImplementedError

    def compared(self, printed, server):
        """The outcomes of a program of ours, which prints for each test a line of JSON: its name, and the value that it has seen or its
        error. What PostgreSQL shows is what Ouzel has to show."""
        seen = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        kept = os.path.join(self.directory, "seen.json")
        values = {one["name"]: one["value"] for one in seen if "error" not in one}
        if server.is_referee:
            with open(kept, "w") as file:
                json.dump(values, file)
        with open(kept) as file:
            expected = json.load(file)
        with open(os.path.join(self.directory, "referee.log" if server.is_referee else "ouzel.log"), "w") as file:
            for one in seen:
                if "error" in one or one["value"] != expected.get(one["name"]):
                    file.write(json.dumps({**one, "expected": expected.get(one["name"])}) + "\n")
        return {one["name"]: "passed" if one["name"] in values and values[one["name"]] == expected.get(one["name"]) else "failed" for one in seen}


def junit_outcomes(report):
    """The outcomes in a report of JUnit's form."""
    outcomes = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        outcomes[f"{case.get('classname')}.{case.get('name')}"] = outcome
    return outcomes


class PythonSuite(Suite):
    """A package of PyPI, downloaded as its authors have published it (sdist), in a virtual environment of its own."""
    needs = []             # further packages

    def __init__(self, directory):
        super().__init__(directory)
        self.python = os.path.join(self.directory, "venv/bin/python")

    def make_environment(self):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(self.directory, "venv")], check=True)
        pip = [self.python, "-m", "pip", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "pytest", "pytest-timeout", *self.needs], check=True)
        return pip

    def installed(self, package):
        """The version of a package in the environment."""
        asked = subprocess.run([self.python, "-c", f"import importlib.metadata as m; print(m.version('{package}'))"], capture_output=True, text=True, check=True)
        return asked.stdout.strip()

    def install(self):
        pip = self.make_environment()
        subprocess.run([*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", self.directory, self.package], check=True)
        archive = next(name for name in sorted(os.listdir(self.directory)) if name.endswith(".tar.gz"))
        subprocess.run(["tar", "-xzf", archive], cwd=self.directory, check=True)
        self.unpacked()

    def unpacked(self):
        pass

    @property
    def source(self):
        return next(entry.path for entry in os.scandir(self.directory) if entry.is_dir() and re.search(r"-\d", entry.name))

    def version(self):
        return os.path.basename(self.source).rsplit("-", 1)[1]

    def pytest(self, paths, arguments, environment):
        report = os.path.join(self.directory, "report.xml")
        if os.path.exists(report):
            os.remove(report)  # that of another run must not count for this one
        command = [self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "60", "--maxfail", "1000000", "--junitxml", report,
                   *arguments, *paths]
        subprocess.run(command, cwd=self.source, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=TIMEOUT)
        return junit_outcomes(report)
