"""What the mistakes are made on: places with a database, servers, certificates."""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts"))

from free_port import free_port
from mistake import NOBODY, Failure, check

ROWS = "SELECT count(*), sum(n), min(s), max(s) FROM t"
ROWS_ANSWER = "3000|4501500|row 1|row 999"


def in_namespace():
    """Whether this process has mounts of its own (see operator_test.py)."""
    return os.environ.get("OUZEL_TEST_OWN_MOUNTS") == "1"


class Server:
    """`ouzel serve` of a place, or another command of the program."""
    binary = None
    library_copies = None
    making = threading.Lock()

    def __init__(self, arguments, environment=None, as_nobody=False, limits=None, stderr=subprocess.PIPE):
        def before_exec():
            for name, value in (limits or {}).items():
                resource.setrlimit(getattr(resource, name), (value, value))
            if "RLIMIT_FSIZE" in (limits or {}): signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        command = [self.binary, *arguments]
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("OUZEL_", "AWS_"))}
        variables.update({"AWS_EC2_METADATA_DISABLED": "true"}, **(environment or {}))
        if as_nobody: variables["LD_LIBRARY_PATH"] = self.libraries()
        if as_nobody: command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
        self.out, self.err = tempfile.TemporaryFile("w+", errors="replace"), tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err if stderr == subprocess.PIPE else stderr,
                                        env=variables, preexec_fn=before_exec)

    @classmethod
    def libraries(cls):
        """Where another user finds the libraries that lie below a home directory."""
        with cls.making:
            if cls.library_copies is None:
                cls.library_copies = os.path.join(Place.shared, "libraries")
                os.mkdir(cls.library_copies)
                for path in re.findall(r"=> (/root/\S+)", subprocess.run(["ldd", cls.binary], capture_output=True, text=True).stdout):
                    shutil.copy(path, cls.library_copies)
        return cls.library_copies

    @staticmethod
    def text(file):
        file.seek(0)
        return file.read()

    @property
    def stderr(self):
        return self.text(self.err)

    def end(self, seconds):
        """The exit status once it has ended by itself."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"it did not end in {seconds} s:\n{self.stderr}{self.text(self.out)}") from None

    def wait_until_ready(self, seconds=30):
        for _ in range(seconds * 50):
            found = re.search(r"psql -h (\S+) -p (\d+)", self.text(self.out))
            if found:
                self.port = int(found.group(2))
                return self
            if self.process.poll() is not None: break
            time.sleep(0.02)
        self.kill()
        raise Failure(f"the server did not start, status {self.process.returncode}:\n{self.stderr}")

    def attempt(self, text, connection="", environment=None):
        """What psql complains of; empty: nothing."""
        return self.psql(text, connection, environment).stderr

    def psql(self, text, connection="", environment=None):
        return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-d",
                               f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres {connection}", "-c", text],
                              capture_output=True, text=True, timeout=60, env=dict(os.environ, **(environment or {})))

    def sql(self, text, fails=False, connection="", environment=None):
        result = self.psql(text, connection, environment)
        check((result.returncode != 0) == fails, f"{text}:\n{result.stdout}{result.stderr}{self.stderr}")
        return result.stderr if fails else result.stdout.strip()

    def stop(self, seconds=60):
        self.process.send_signal(signal.SIGTERM)
        status = self.end(seconds)
        check(status == 0, f"it ended with status {status}:\n{self.stderr}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Place:
    """A directory for one mistake. `data` is where its database lies."""
    shared = None  # the directory of all places
    templates = {}
    made = threading.Lock()

    def __init__(self, kind, root):
        Place.shared = root
        self.root = tempfile.mkdtemp(prefix="place-", dir=root)
        os.chmod(self.root, 0o755)
        self.data = os.path.join(self.root, "data")
        self.port = free_port()
        self.others = []  # servers and sockets that are in the way, and mounts
        self.mounts = []
        if kind in ("rows", "killed"):
            with self.made:
                if kind not in self.templates: self.templates[kind] = self.template(kind, root)
            shutil.copytree(self.templates[kind], self.data)

    @staticmethod
    def template(kind, root):
        """A database with rows in a block and in the log; "killed": not shut down."""
        path = os.path.join(root, "template-" + kind)
        server = Server(["serve", "--data", path, "--port", "0", "--threads", "1", "--memory-limit", "256MB"]).wait_until_ready()
        server.sql("CREATE TABLE t (n integer PRIMARY KEY, s text); INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 2000) g")
        server.sql("CHECKPOINT")
        server.sql("INSERT INTO t SELECT g, 'row ' || g FROM generate_series(2001, 3000) g")
        if kind == "killed": server.kill()
        else: server.stop()
        return path

    def path(self, *names):
        return os.path.join(self.root, *names)

    def write(self, name, content, mode=0o600):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)
        return path

    def serve(self, *flags, data=None, **how):
        return Server(["serve", "--data", data or self.data, "--port", "0", "--threads", "1", *flags], **how)

    def give(self, path, owner=NOBODY):
        """All below a path to another user."""
        for directory, folders, files in os.walk(path):
            for name in [".", *folders, *files]: os.chown(os.path.join(directory, name), owner, owner)

    def mount(self, path, *options):
        os.makedirs(path, exist_ok=True)
        subprocess.run(["mount", *options, path], check=True, capture_output=True)
        self.mounts.append(path)

    def certificate(self, name="server", days=30, host="localhost", issuer=None, *extensions):
        """PEM files NAME.crt and NAME.key, self-signed or signed by `issuer`."""
        key, certificate = self.path(name + ".key"), self.path(name + ".crt")
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(days),
                   "-subj", "/CN=" + host, "-keyout", key, "-out", certificate]
        if issuer: command += ["-CA", self.path(issuer + ".crt"), "-CAkey", self.path(issuer + ".key")]
        for extension in extensions: command += ["-addext", extension]
        subprocess.run(command, check=True, capture_output=True)
        os.chmod(key, 0o600)
        return certificate, key

    def clear(self):
        for other in self.others:
            if isinstance(other, Server):
                if other.process.poll() is None: other.kill()
            else:
                other.close()
        for path in reversed(self.mounts): subprocess.run(["umount", path], capture_output=True)
        shutil.rmtree(self.root, ignore_errors=True)
