"""TLS, certificates of clients, passwords and channel binding, with libpq and with clients that cheat."""
import base64
import os
import re
import signal
import socket
import ssl
import struct
import time

from machine import ROWS, ROWS_ANSWER, Server
from mistake import check, messages

TLS = ["--ssl-cert-file", "server.crt", "--ssl-key-file", "server.key"]


def start(place, *flags):
    """A server with a certificate; flags may name files of the place."""
    flags = [place.path(flag) if re.search(r"\.(crt|key|conf)$|^password$", flag) else flag for flag in flags]
    server = place.serve("--memory-limit", "256MB", *flags).wait_until_ready()
    place.others.append(server)
    return server


def require_ssl(place):
    place.certificate()
    server = start(place, *TLS, "--require-ssl")
    failed = server.sql("SELECT 1", fails=True, connection="sslmode=disable")
    check("requires SSL" in failed and "sslmode=require" in failed, f"the plain connection is not told: {failed}")
    check(server.sql(ROWS, connection="sslmode=require") == ROWS_ANSWER, "TLS does not work")
    check(server.sql(ROWS, connection="sslmode=prefer") == ROWS_ANSWER, "sslmode=prefer does not choose TLS")
    state = sql_state(server, user="postgres")
    check(state == "28000", f"the SQLSTATE is {state}")
    server.stop()


def message(kind, payload):
    return kind + struct.pack("!i", len(payload) + 4) + payload


def startup(user):
    payload = struct.pack("!i", 3 << 16) + f"user\0{user}\0database\0postgres\0\0".encode()
    return struct.pack("!i", len(payload) + 4) + payload


def receive(connection):
    head = b""
    while len(head) < 5:
        piece = connection.recv(5 - len(head))
        if not piece: return b"", b""
        head += piece
    size = struct.unpack("!i", head[1:])[0] - 4
    body = b""
    while len(body) < size: body += connection.recv(size - len(body))
    return head[:1], body


def connect(server, tls=False):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    if tls:
        connection.sendall(struct.pack("!ii", 8, 80877103))
        check(connection.recv(1) == b"S", "TLS is not offered")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(connection)
    connection.sendall(startup("postgres"))
    return connection


def field(body, name):
    for part in body.split(b"\0"):
        if part[:1] == name: return part[1:].decode()
    return ""


def sql_state(server, user):
    with connect(server) as connection:
        kind, body = receive(connection)
        check(kind == b"E", f"not an error: {kind} {body}")
        return field(body, b"C")


def passwords_on_this_machine(place):
    """--trust-loopback off asks here, too."""
    place.write("password", "secret\n")
    server = start(place, "--trust-loopback", "off", "--password-file", "password")
    check("no password supplied" in server.sql("SELECT 1", fails=True, connection="passfile=/dev/null"), "it does not ask")
    check("password authentication failed" in server.sql("SELECT 1", fails=True, environment={"PGPASSWORD": "wrong"}), "a wrong one is not told")
    check(server.sql(ROWS, environment={"PGPASSWORD": "secret"}) == ROWS_ANSWER, "the right one does not work")
    server.stop()


def channel_binding(place):
    place.certificate()
    place.write("password", "secret\n")
    server = start(place, *TLS, "--trust-loopback=off", "--password-file", "password")
    secret = {"PGPASSWORD": "secret"}
    check(server.sql(ROWS, connection="sslmode=require channel_binding=require", environment=secret) == ROWS_ANSWER, "binding does not work")
    check(server.sql(ROWS, connection="sslmode=require channel_binding=disable", environment=secret) == ROWS_ANSWER, "without binding it fails")
    failed = server.sql("SELECT 1", fails=True, connection="sslmode=disable channel_binding=require", environment=secret)
    check("channel binding" in failed, f"a plain connection binds: {failed}")
    with connect(server, tls=True) as client:
        kind, body = receive(client)
        check(body[4:].split(b"\0")[:2] == [b"SCRAM-SHA-256-PLUS", b"SCRAM-SHA-256"], f"the mechanisms are {body}")
        # Who believes that the server cannot bind was lied to.
        first = b"y,,n=,r=abcdefghijkl"
        client.sendall(message(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first))
        kind, body = receive(client)
        check(kind == b"E" and field(body, b"C") == "28000" and "negotiation" in field(body, b"M"), f"the downgrade is not noticed: {body}")
    with connect(server, tls=True) as client:
        receive(client)
        first = b"p=tls-server-end-point,,n=,r=abcdefghijkl"
        client.sendall(message(b"p", b"SCRAM-SHA-256-PLUS\0" + struct.pack("!i", len(first)) + first))
        kind, body = receive(client)
        nonce = re.search(rb"r=([^,]+)", body).group(1)
        bound = base64.b64encode(b"p=tls-server-end-point,," + bytes(32))
        client.sendall(message(b"p", b"c=" + bound + b",r=" + nonce + b",p=" + base64.b64encode(bytes(32))))
        kind, body = receive(client)
        check(kind == b"E" and field(body, b"C") == "28000" and "binding check failed" in field(body, b"M"), f"another certificate is taken: {body}")
    server.stop()


def client_certificates(place):
    place.certificate()
    place.certificate("ca", host="the authority")
    place.certificate("postgres", 30, "postgres", "ca")
    place.certificate("stranger", 30, "stranger", "ca")
    place.certificate("selfmade", host="postgres")

    def of(name):
        return f"sslmode=require sslcert={place.path(name + '.crt')} sslkey={place.path(name + '.key')}"
    server = start(place, *TLS, "--ssl-ca-file", "ca.crt", "--ssl-client-cert", "verify-full")
    check(server.sql(ROWS, connection=of("postgres")) == ROWS_ANSWER, "the right certificate does not work")
    failed = server.sql("SELECT 1", fails=True, connection="sslmode=require sslcert=/nowhere")
    check("requires a valid client certificate" in failed, f"no certificate: {failed}")
    failed = server.sql("SELECT 1", fails=True, connection=of("stranger"))
    check('certificate authentication failed for user "postgres"' in failed, f"another name: {failed}")
    check('common name is "stranger"' in server.stderr, "the log does not say which name")
    failed = server.sql("SELECT 1", fails=True, connection=of("selfmade"))
    check("unknown ca" in failed or "certificate" in failed, f"a certificate of nobody's: {failed}")
    failed = server.sql("SELECT 1", fails=True, connection="sslmode=disable")
    check("requires SSL" in failed, f"no TLS: {failed}")
    server.stop()
    server = start(place, *TLS, "--ssl-ca-file", "ca.crt", "--ssl-client-cert", "verify-ca")
    check(server.sql(ROWS, connection=of("stranger")) == ROWS_ANSWER, "verify-ca looks at the name")
    check("requires a valid" in server.sql("SELECT 1", fails=True, connection="sslmode=require sslcert=/nowhere"), "no certificate is needed")
    server.stop()


def certificates_that_change(place):
    """SIGHUP and pg_reload_conf() take a new certificate; of a broken one the log tells, and the old one stays."""
    certificate, _ = place.certificate()
    os.rename(certificate, place.path("first.crt"))
    place.write("server.crt", open(place.path("first.crt"), "rb").read())
    server = start(place, *TLS)
    trusted = "sslmode=verify-ca sslrootcert=" + place.path("first.crt")
    check(server.sql("SELECT 1", connection=trusted) == "1", "the first certificate is not shown")
    place.write("server.crt", "garbage")
    server.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    found = messages(server.stderr)
    check(len(found) == 1 and "server.crt" in found[0].text and "stays in use" in found[0].text, f"the log does not tell of the broken one: {server.stderr}")
    check(server.sql("SELECT 1", connection=trusted) == "1", "the old certificate is not shown any more")
    place.certificate()
    server.sql("SELECT pg_reload_conf()")
    time.sleep(0.5)
    check("certificate verify failed" in server.sql("SELECT 1", fails=True, connection=trusted), "the old certificate is shown still")
    check(server.sql("SELECT 1", connection="sslmode=verify-ca sslrootcert=" + place.path("server.crt")) == "1", "the new certificate is not shown")
    check(len(messages(server.stderr)) == 1, f"it says more: {server.stderr}")
    server.stop()


def malformed_verifiers(place):
    """They are plain passwords, as in PostgreSQL: the server makes verifiers of them."""
    server = start(place)
    key = base64.b64encode(bytes(32)).decode()
    good = f"SCRAM-SHA-256$4096:c2FsdA==${key}:{key}"
    stored = lambda: server.sql("SELECT rolpassword FROM pg_authid WHERE rolname = 'r'")
    server.sql(f"CREATE ROLE r LOGIN PASSWORD '{good}'")
    check(stored() == good, "a verifier is not kept as it is")
    for bad in ("SCRAM-SHA-256$", good.replace("4096", "0"), good.replace("4096", "many"), good.replace("c2FsdA==", ""), good.replace("c2FsdA==", "c2?sdA=="),
                good[:-4], good.replace(":" + key, ""), good + "A"):
        server.sql(f"ALTER ROLE r PASSWORD '{bad}'")
        check(re.fullmatch(r"SCRAM-SHA-256\$4096:[\w+/=]{24}\$[\w+/=]{44}:[\w+/=]{44}", stored()), f"{bad}: {stored()}")
    server.stop()


def options_of_tls(place):
    """What belongs together."""
    for flags, says in ((["--require-ssl"], "--ssl-cert-file"), (["--ssl-ca-file", "x"], "--ssl-cert-file"), (["--ssl-client-cert", "full"], "verify-full"),
                        (["--trust-loopback", "maybe"], "neither on nor off")):
        server = Server(["serve", "--data", place.data, *flags])
        check(server.end(10) == 2 and says in server.stderr, f"{flags}: {server.stderr}")
    server = Server(["serve", "--data", place.data, "--trust-loopback", "off", "--port", "0"])
    check(server.end(10) == 1 and "--password-file" in server.stderr, f"nobody can come in, and it starts: {server.stderr}")


TELLS = {
    "require-ssl": require_ssl,
    "passwords on this machine": passwords_on_this_machine,
    "channel binding": channel_binding,
    "certificates of clients": client_certificates,
    "certificates that change": certificates_that_change,
    "malformed SCRAM verifiers": malformed_verifiers,
    "options of TLS that belong together": options_of_tls,
}
