"""Suites of Rust's drivers and mappers, whose crates have tests in them."""
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import threading

from .suite import HERE, TIMEOUT, Suite


def cargo_outcomes(printed):
    """The outcomes in what `cargo test` prints, by test program."""
    outcomes, program = {}, ""
    words = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
    for line in printed.splitlines():
        if found := re.match(r"\s*Running (?:unittests )?(\S+)", line):
            program = found.group(1)
        elif found := re.match(r"test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", line):
            outcomes[f"{program}::{found.group(1)}"] = words[found.group(2)]
    return outcomes


@contextlib.contextmanager
def forwarded(port, server):
    """What comes to the port of this machine goes to the server."""
    def pump(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                client = listener.accept()[0]
                there = socket.create_connection((server.host, server.port))
                for one in (client, there):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for pair in ((client, there), (there, client)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", port)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # wakes accept(), which would keep the port


class RustSuite(Suite):
    """A crate, tested in a copy of it."""
    tools = {"cargo": "~/.cargo/bin/cargo"}
    features = []
    targets = []           # which of its tests

    @property
    def source(self):
        return os.path.join(self.directory, "source")

    def cargo(self, *arguments, cwd=None, check=True, **environment):
        return subprocess.run([self.tool("cargo"), *arguments], cwd=cwd or self.source, check=check, capture_output=True, text=True, timeout=TIMEOUT,
                              env={**os.environ, "CARGO_TERM_COLOR": "never", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0", **environment})

    def install(self):
        finder = os.path.join(self.directory, "finder")
        os.makedirs(os.path.join(finder, "src"), exist_ok=True)
        open(os.path.join(finder, "src/lib.rs"), "w").close()
        with open(os.path.join(finder, "Cargo.toml"), "w") as file:
            file.write('[package]\nname = "finder"\nversion = "0.1.0"\nedition = "2021"\n')
        self.cargo("add", self.package, cwd=finder)
        packages = json.loads(self.cargo("metadata", "--format-version=1", cwd=finder).stdout)["packages"]
        crate = next(one for one in packages if one["name"] == self.package)
        shutil.copytree(os.path.dirname(crate["manifest_path"]), self.source, dirs_exist_ok=True)
        with open(os.path.join(self.directory, "version"), "w") as file:
            file.write(crate["version"])
        self.unpacked()
        self.cargo("test", "--no-run", *self.chosen())

    def unpacked(self):
        """Makes a workspace of it, so that none around it counts, for the Rust that is installed."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.source, "rust-toolchain.toml"))
        with open(os.path.join(self.source, "Cargo.toml"), "a") as file:
            file.write("\n[workspace]\n")

    def chosen(self):
        return ["--no-default-features", "--features", ",".join(self.features), *self.targets]

    def version(self):
        with open(os.path.join(self.directory, "version")) as file:
            return file.read()

    def test(self, **environment):
        done = self.cargo("test", "--no-fail-fast", *self.chosen(), "--", "--test-threads=4", check=False, **environment)
        with open(os.path.join(self.directory, "output.log"), "w") as file:
            file.write(done.stdout + done.stderr)
        # Programs are named on standard error, their tests on standard output, in the same order.
        names = re.findall(r"^\s*Running (?:unittests )?(\S+)", done.stderr, re.MULTILINE)
        parts = re.split(r"^running \d+ tests?$", done.stdout, flags=re.MULTILINE)[1:]
        return cargo_outcomes("\n".join(f"Running {name}\n{part}" for name, part in zip(names, parts)))


class TokioPostgres(RustSuite):
    package = "tokio-postgres"
    what = "its tests"
    missing = [(r"pg_database_datname", "another order of rows without ORDER BY")]
    features = ["runtime", "array-impls", "with-bit-vec-0_8", "with-chrono-0_4", "with-eui48-1", "with-geo-types-0_7", "with-serde_json-1", "with-smol_str-01",
                "with-time-0_3", "with-uuid-1", "with-jiff-0_2"]
    targets = ["--test", "test"]

    def run(self, server):
        server.psql("postgres", "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
        server.extend("postgres", "hstore", "citext", "ltree")
        for role in ["pass_user", "md5_user", "scram_user"]:
            server.psql("postgres", f"DROP ROLE IF EXISTS {role}", f"CREATE ROLE {role} LOGIN PASSWORD 'password'")
        with forwarded(5433, server):  # the port that the tests know
            return self.test()


class Diesel(RustSuite):
    package = "diesel"
    missing = [(r"other_libpq_failures", "a SERIALIZABLE transaction that cannot commit hears of it at COMMIT, not before")]
    what = "the tests in its source"
    features = ["postgres", "chrono", "time", "uuid", "serde_json", "network-address", "numeric", "r2d2", "32-column-tables", "with-deprecated",
                "i-implement-a-third-party-backend-and-opt-into-breaking-changes"]
    targets = ["--lib"]

    def unpacked(self):
        super().unpacked()
        # Their attribute of tests is #[test] where there are threads; it comes with a crate that is published nowhere.
        for place, _, names in os.walk(os.path.join(self.source, "src")):
            for path in (os.path.join(place, name) for name in names):
                with open(path) as file:
                    text = file.read()
                if "diesel_test_helper::test" in text:
                    with open(path, "w") as file:
                        file.write(text.replace("diesel_test_helper::test", "test"))

    def run(self, server):
        server.fresh("diesel_suite")
        server.extend("diesel_suite", "citext")
        url = f"postgres://{server.user}@{server.host}:{server.port}/diesel_suite"
        return self.test(DATABASE_URL=url, PG_DATABASE_URL=url)


class Sqlx(RustSuite):
    package = "sqlx"
    missing = [
        (r"exclude_violation", "EXCLUDE USING gist"),
        (r"outer_join_nullable", "plans in EXPLAIN by which sqlx knows what may be NULL"),
    ]
    what = "its tests of PostgreSQL, but those that are compiled for a server's tables"
    features = ["postgres", "runtime-tokio", "macros", "migrate", "any", "json", "chrono", "time", "uuid", "ipnet", "ipnetwork", "mac_address",
                "bigdecimal", "rust_decimal", "bit-vec"]
    targets = [word for name in ["postgres", "postgres-types", "postgres-describe", "postgres-error", "postgres-query-builder", "postgres-migrate"]
               for word in ("--test", name)]

    def unpacked(self):
        super().unpacked()
        shutil.copytree(os.path.join(HERE, "rust/sqlx-test"), os.path.join(self.source, "sqlx-test"), dirs_exist_ok=True)
        # query!() would ask a server while it is compiled.
        path = os.path.join(self.source, "tests/postgres/postgres.rs")
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace('sqlx::query!("SELECT 1 AS one")', 'sqlx::query("SELECT 1 AS one")'))
        with open(os.path.join(self.source, "Cargo.toml"), "a") as file:
            file.write('[dev-dependencies.sqlx-test]\npath = "sqlx-test"\n')

    def run(self, server):
        server.fresh("sqlx_suite")
        server.extend("sqlx_suite", "citext", "hstore", "ltree", "cube")
        with open(os.path.join(self.source, "tests/postgres/setup.sql")) as file:
            statements = re.split(r";\n\n", file.read())
        for statement in statements:
            if not server.is_referee and re.search(r"\bcircles\b", statement):
                continue
            server.psql("sqlx_suite", statement)
        return self.test(DATABASE_URL=f"postgres://{server.user}@{server.host}:{server.port}/sqlx_suite")
