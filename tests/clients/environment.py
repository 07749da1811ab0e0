"""Where the client tests run: a virtual environment with the client libraries, made on first use from PyPI and kept
beside the build, and a server of their own."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
SKIPPED = 77  # the exit status that ctest counts as "not run"


def inside_venv(directory):
    """Go on inside the virtual environment in `directory`; ends this process otherwise. Only when no registry answers
    the tests are skipped."""
    python = os.path.join(directory, "bin/python")
    stamp = os.path.join(directory, "requirements.txt")
    wanted = open(REQUIREMENTS).read()
    if not os.path.exists(stamp) or open(stamp).read() != wanted:
        shutil.rmtree(directory, ignore_errors=True)
        made = subprocess.run([sys.executable, "-m", "venv", directory], capture_output=True, text=True)
        if made.returncode != 0:
            print("skipped: no virtual environment can be made (Debian: python3-venv):", made.stdout[-500:], made.stderr[-500:])
            sys.exit(SKIPPED)
        installed = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", REQUIREMENTS],
                                   capture_output=True, text=True)
        if installed.returncode != 0:
            print("skipped: no registry answers:", installed.stderr[-1500:])
            sys.exit(SKIPPED)
        shutil.copy(REQUIREMENTS, stamp)
    if os.path.realpath(sys.prefix) != os.path.realpath(directory):
        sys.stdout.flush()
        os.execv(python, [python, *sys.argv])


class Server:
    """`ouzel serve` over a temporary directory, or a server that runs already ("HOST:PORT")."""

    def __init__(self, binary=None, target=None):
        self.process = self.home = None
        if target:
            self.host, port = target.rsplit(":", 1)
            self.port = int(port)
            return
        self.host = "127.0.0.1"
        self.home = tempfile.mkdtemp(prefix="ouzel-clients-")
        log = open(self.home + "/log", "wb")
        self.process = subprocess.Popen([binary, "serve", "--data", self.home + "/data", "--port", "0"],
                                        stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            found = re.search(r" -p (\d+)", line)
            if found:
                self.port = int(found.group(1))
                return
        raise SystemExit("the server ended at start:\n" + open(self.home + "/log", errors="replace").read()[-4000:])

    def stop(self):
        """False when the server did not end well."""
        if not self.process:
            return True
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(300)
        if status != 0:
            print(f"server ended with {status}:", open(self.home + "/log", errors="replace").read()[-4000:])
        shutil.rmtree(self.home, ignore_errors=True)
        return status == 0


def run_tests(tests, only):
    """Run (name, callable) pairs; prints failures and the count. True when all passed."""
    import traceback
    passed = failed = 0
    for name, test in tests:
        if only and name not in only:
            continue
        try:
            test()
            passed += 1
        except Exception as error:  # noqa: BLE001: any failure is reported and the next test goes on
            failed += 1
            where = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(HERE)][-1]
            print(f"{name}:{where.lineno}: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed == 0 and passed > 0
