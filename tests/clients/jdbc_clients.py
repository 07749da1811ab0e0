#!/usr/bin/env python3
"""Compiles JdbcClient.java against pgJDBC from Maven Central and runs it against a server of its own (--binary) or one
that runs already (--target HOST:PORT). Exit status 77 without a Java compiler, or when Maven Central does not answer."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import environment  # noqa: E402
import jdbc_driver  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary")
    parser.add_argument("--target")
    parser.add_argument("--cache", default=os.path.join(environment.HERE, "../../build"))
    arguments = parser.parse_args()
    if not shutil.which("javac") or not shutil.which("java"):
        print("skipped: no Java compiler (Debian: openjdk-17-jdk-headless)")
        return environment.SKIPPED
    try:
        jar = jdbc_driver.driver(arguments.cache)
    except OSError as error:
        print("skipped: Maven Central does not answer:", error)
        return environment.SKIPPED
    classes = tempfile.mkdtemp(prefix="ouzel-jdbc-")
    try:
        subprocess.run(["javac", "-cp", jar, "-d", classes, os.path.join(environment.HERE, "JdbcClient.java")], check=True)
        server = environment.Server(arguments.binary, arguments.target)
        # Without this pgJDBC looks at the zone of the machine; the answers here are written down for UTC.
        status = subprocess.call(["java", "-Duser.timezone=UTC", "-cp", f"{jar}:{classes}", "JdbcClient", server.host, str(server.port)])
        return 0 if server.stop() and status == 0 else 1
    finally:
        shutil.rmtree(classes, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
