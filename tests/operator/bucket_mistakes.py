"""Mistakes about buckets, and asking where no server is."""
import http.server
import socket
import socketserver
import threading

from mistake import Mistake
from server import KEY, SECRET, ObjectServer

KEYS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}


def bucket(name, says, url, prepare=None, status=1, environment=None, flags=(), **more):
    return Mistake(name, says, ["--data", url, "--wal", "{place}/wal", "--port", "0", "--threads", "1", *flags], status, prepare=prepare,
                   environment=KEYS if environment is None else environment, data="none", answers=False, **more)


def asks(name, command, says, arguments, status=1, prepare=None, **more):
    return Mistake(name, says, arguments, status, prepare=prepare, command=command, answers=False, **more)


class Refusing(socketserver.BaseRequestHandler):
    """A web server that is told what is no request."""

    def handle(self):
        self.request.recv(1000)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


class Closing:
    def __init__(self, thing, close):
        self.thing, self.close = thing, close


class Page(http.server.BaseHTTPRequestHandler):
    def answer(self):
        text = b"<html><body>Welcome to the intranet</body></html>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer

    def log_message(self, *arguments):
        pass


def web_server(place):
    site = http.server.ThreadingHTTPServer(("127.0.0.1", place.port), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    place.others.append(Closing(site, lambda: (site.shutdown(), site.server_close())))


def plain_server(place):
    site = socketserver.ThreadingTCPServer(("127.0.0.1", place.port), Refusing)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    place.others.append(Closing(site, lambda: (site.shutdown(), site.server_close())))


def object_server(place):
    store = ObjectServer(object_server.binary, bucket="data", credentials=f"{KEY}:{SECRET}")
    place.port = store.port
    place.others.append(Closing(store, store.stop))


def silent(place):
    """Takes connections and says nothing."""
    other = socket.socket()
    other.bind(("127.0.0.1", place.port))
    other.listen(50)
    place.others.append(other)


def running(place):
    server = place.serve("--port", str(place.port)).wait_until_ready()
    place.others.append(server)


URL = "s3://data/base?endpoint=http://127.0.0.1:{port}&path_style=true&region=us-east-1"
MISTAKES = [
    bucket("a bucket that does not exist", [r"bucket.*nothing-here|nothing-here.*bucket", "HINT"], URL.replace("//data", "//nothing-here"), object_server),
    bucket("a wrong secret", [r"SignatureDoesNotMatch|signature", r"AWS_SECRET_ACCESS_KEY|HINT"], URL, object_server,
           environment=dict(KEYS, AWS_SECRET_ACCESS_KEY="wrong")),
    bucket("a key that does not exist", [r"InvalidAccessKeyId|access key", r"HINT"], URL, object_server,
           environment=dict(KEYS, AWS_ACCESS_KEY_ID="AKIAWRONG")),
    bucket("no credentials", [r"credentials", r"AWS_ACCESS_KEY_ID"], URL, object_server, environment={"HOME": "/nonexistent"}),
    bucket("an endpoint where nobody listens", [r"127\.0\.0\.1:\d+", r"Connection refused", "HINT"], URL, seconds=90),
    bucket("an endpoint whose name does not exist", [r"nowhere\.invalid", "HINT"], "s3://data/base?endpoint=http://nowhere.invalid&path_style=true&region=x",
           seconds=90),
    bucket("an endpoint that is a web server", [r"127\.0\.0\.1:\d+", r"not S3|does not speak S3|no S3", "HINT"], URL, web_server, seconds=90),
    bucket("TLS to a server without it", [r"127\.0\.0\.1:\d+", r"TLS|wrong version number", "HINT"], URL.replace("http:", "https:"), plain_server,
           seconds=90),
    bucket("a bucket without a name", [r"s3://", r"bucket"], "s3://", status=2),
    bucket("an unknown option of a bucket", [r"regoin"], "s3://data/base?regoin=us-east-1", status=2),
    bucket("another cloud's address", [r"gs://", r"s3://"], "gs://data/base", status=2),
    Mistake("a bucket without a log", [r"--wal DIR", "--commit object_store"], ["--data", "s3://data/base", "--port", "0"], 2, environment=KEYS, data="none"),
    asks("ready of nothing", "ready", [r"127\.0\.0\.1:\d+", r"Connection refused", r"HINT|--port"], ["--port", "{port}"], data="none"),
    asks("ready of something else", "ready", [r"127\.0\.0\.1:\d+", r"not PostgreSQL"], ["--port", "{port}"], prepare=plain_server, data="none"),
    asks("ready of somebody silent", "ready", [r"127\.0\.0\.1:\d+", r"no answer"], ["--port", "{port}"], prepare=silent, data="none"),
    asks("ready of no port", "ready", [r'"x" is not a port', "ouzel ready --help"], ["--port", "x"], 2, data="none"),
    asks("an unknown flag of ready", "ready", [r'unknown option "--prot"', "ouzel ready --help"], ["--prot", "1"], 2, data="none"),
    asks("check of nothing", "check", [r"there is no database in \"\S*/data\""], ["--data", "{data}"], data="new"),
    asks("check without a directory", "check", [r"--data DIR is required", "ouzel check --help"], [], 2, data="none"),
    asks("an unknown flag of check", "check", [r'unknown option "--repair"', "ouzel check --help"], ["--repair", "{data}"], 2),
    asks("check of a bucket that is not there", "check", [r"bucket.*nothing-here|nothing-here.*bucket", "HINT"],
         ["--data", URL.replace("//data", "//nothing-here")], prepare=object_server, environment=KEYS, data="none"),
]
