"""Starts object_server for tests and benchmarks, and talks to its control URL."""
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.parse

KEY, SECRET = "AKIAOUZELTEST", "secret/of+the=tests"


class ObjectServer:
    """A server process over a temporary directory, or over `root`, or a proxy (`upstream`). `options` as on its command
    line: latency_ms=30, cap="400MB/s", bucket="data", ..."""

    def __init__(self, binary, root=None, upstream=None, tls=False, **options):
        self.home = None if root or upstream else tempfile.mkdtemp(prefix="object-server-")
        self.root = root or self.home
        self.certificate = os.path.join(tempfile.mkdtemp(prefix="object-server-tls-"), "certificate.pem") if tls else None
        command = [binary] + (["--upstream", upstream] if upstream else ["--root", self.root])
        command += ["--tls", self.certificate] if tls else []
        for name, value in options.items():
            for one in value if isinstance(value, list) else [value]:
                command += ["--" + name.replace("_", "-"), str(one)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise SystemExit(f"object_server did not start: {command}")
        self.host, port = line.split()[-1].rsplit(":", 1)
        self.port = int(port)
        self.url = f"{'https' if tls else 'http'}://{self.host}:{self.port}"

    def _control(self, method, **settings):
        connection = self.connect()
        connection.request(method, "/_control?" + urllib.parse.urlencode(settings))
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        if response.status != 200:
            raise RuntimeError(text)
        return json.loads(text)

    def connect(self, timeout=30):
        if not self.certificate:
            return http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        import ssl
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout,
                                           context=ssl.create_default_context(cafile=self.certificate))

    def set(self, **settings):
        """Change settings; reset=1 begins counting anew."""
        return self._control("POST", **settings)

    def counters(self):
        return self._control("GET")["counters"]

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        self.process.stdout.close()
        for directory in (self.home, self.certificate and os.path.dirname(self.certificate)):
            if directory:
                shutil.rmtree(directory, ignore_errors=True)
        return status == 0
