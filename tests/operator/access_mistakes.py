"""Mistakes about who may come in: ports, addresses, certificates, passwords, keys."""
import os
import socket
import subprocess

from mistake import Mistake
from place_mistakes import SERVE

TLS = ["--ssl-cert-file", "{place}/server.crt", "--ssl-key-file", "{place}/server.key"]
KEY = "11" * 32


def access(name, says, prepare=None, flags=(), status=1, **more):
    return Mistake(name, says, [*SERVE, *flags], status, prepare=prepare, **more)


def taken(place):
    other = socket.socket()
    other.bind(("127.0.0.1", place.port))
    other.listen()
    place.others.append(other)


def close_others(place):
    place.others[0].close()


def good(place):
    place.certificate()


def without(*names):
    def prepare(place):
        place.certificate()
        for name in names: os.remove(place.path(name))
    return prepare


def of_another_key(place):
    place.certificate("other")
    place.certificate()
    os.replace(place.path("other.key"), place.path("server.key"))


def open_to_all(place):
    place.certificate()
    os.chmod(place.path("server.key"), 0o644)


def garbage(name):
    def prepare(place):
        place.certificate()
        place.write(name, os.urandom(500))
    return prepare


def empty(name):
    def prepare(place):
        place.certificate()
        place.write(name, "")
    return prepare


def with_a_passphrase(place):
    place.certificate()
    subprocess.run(["openssl", "ec", "-aes256", "-passout", "pass:secret", "-in", place.path("server.key"), "-out", place.path("locked.key")],
                   check=True, capture_output=True)
    os.replace(place.path("locked.key"), place.path("server.key"))


def dated(begin, end):
    """A certificate for other times, for which openssl wants a small authority."""
    def prepare(place):
        place.certificate()
        place.write("ca.conf", f"[ca]\ndefault_ca=one\n[one]\nnew_certs_dir={place.root}\ndatabase={place.root}/index\nserial={place.root}/serial\n"
                    "default_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n")
        place.write("index", "")
        place.write("serial", "01\n")
        run = dict(check=True, capture_output=True)
        subprocess.run(["openssl", "req", "-new", "-key", place.path("server.key"), "-subj", "/CN=localhost", "-out", place.path("request")], **run)
        subprocess.run(["openssl", "ca", "-batch", "-selfsign", "-config", place.path("ca.conf"), "-keyfile", place.path("server.key"), "-in",
                        place.path("request"), "-startdate", begin, "-enddate", end, "-notext", "-out", place.path("server.crt")], **run)
    return prepare


def file(name, content, mode=0o600):
    def prepare(place):
        place.write(name, content, mode)
    return prepare


def encrypted(place):
    place.write("key", KEY)
    place.data = place.path("sealed")
    server = place.serve("--encryption-key-file", place.path("key")).wait_until_ready()
    server.sql("CREATE TABLE t (n integer)")
    server.stop()


def wrong_key(place):
    encrypted(place)
    place.write("key", "22" * 32)


def socket_taken(place):
    other = socket.socket(socket.AF_UNIX)
    other.bind(place.path(f".s.PGSQL.{place.port}"))
    other.listen()
    place.others.append(other)


def rules(text):
    return file("hba", text)


HBA = ["--hba", "{place}/hba"]
SOCKET = ["--socket", "{place}", "--port", "{port}"]
ENCRYPTED = ["--encryption-key-file", "{place}/key"]
PASSWORD = ["--password-file", "{place}/password"]

MISTAKES = [
    access("a port that is taken", [r'could not listen on "127.0.0.1", port \d+: Address already in use', "HINT"], taken, ["--port", "{port}"],
           mend=close_others),
    access("a port that is taken, before there is a database", [r"Address already in use", "HINT"], taken, ["--port", "{port}"], data="new",
           mend=close_others),
    access("a port for metrics that is taken", [r"port \d+: Address already in use", r"metrics"], taken, ["--metrics-port", "{port}"], data="new",
           mend=close_others),
    access("one port for two things", [r"metrics"], None, ["--port", "{port}", "--metrics-port", "{port}"], 2, data="new"),
    access("a port of root's", [r"port 80: Permission denied", "HINT"], lambda p: p.give(p.root), ["--port", "80"], data="new", as_nobody=True),
    access("an address of another machine", [r'"192\.0\.2\.1".*Cannot assign requested address', "HINT"], None, ["--listen", "192.0.2.1", "--password", "secret"], data="new"),
    access("a name that does not exist", [r'"nowhere\.invalid"', r"--listen|HINT"], None, ["--listen", "nowhere.invalid"], data="new"),
    access("an empty address", [r"--listen"], None, ["--listen", ""], 2, data="new"),
    access("open to others without a password", [r'"\*"', r"no password", r"--password-file"], None, ["--listen", "*"], data="new"),
    access("a certificate without a key", [r"--ssl-cert-file and --ssl-key-file belong together"], good, ["--ssl-cert-file", "{place}/server.crt"], 2,
           data="new"),
    access("no certificate", [r'certificate file "\S*/server\.crt".*No such file'], without("server.crt"), TLS, data="new"),
    access("no key", [r'private key file "\S*/server\.key".*No such file'], without("server.key"), TLS, data="new"),
    access("a certificate that is garbage", [r'certificate file "\S*/server\.crt"', r"PEM"], garbage("server.crt"), TLS, data="new"),
    access("a key that is garbage", [r'private key file "\S*/server\.key"', r"PEM"], garbage("server.key"), TLS, data="new"),
    access("an empty certificate", [r'certificate file "\S*/server\.crt"', r"PEM"], empty("server.crt"), TLS, data="new"),
    access("a key of another certificate", [r"server\.key.*does not match.*server\.crt"], of_another_key, TLS, data="new"),
    access("a key that others can read", [r'private key file "\S*/server\.key" has group or world access', r"0600"], open_to_all, TLS, data="new"),
    access("a key with a passphrase", [r'private key file "\S*/server\.key"', r"passphrase"], with_a_passphrase, TLS, data="new"),
    access("a certificate that has expired", [r"server\.crt.*expired", r"2021"], dated("20200101000000Z", "20210101000000Z"), TLS, None),
    access("a certificate that is not valid yet", [r"server\.crt.*not valid (yet|before)", r"2091"], dated("20910101000000Z", "20920101000000Z"), TLS, None),
    access("no password file", [r'"\S*/password".*No such file'], None, PASSWORD, 2, data="new"),
    access("an empty password file", [r'"\S*/password".*no password'], file("password", ""), PASSWORD, 2, data="new"),
    access("a password file that begins with an empty line", [r'"\S*/password".*no password'], file("password", "\nsecret\n"), PASSWORD, 2, data="new"),
    access("a directory for a password file", [r'"\S*".*is a directory'], None, ["--password-file", "{place}"], 2, data="new"),
    access("a password file without an end", [r'"/dev/zero"'], None, ["--password-file", "/dev/zero"], 2, data="new"),
    access("a password file that others can read", [r'"\S*/password".*all users', r"chmod"], file("password", "secret\n", 0o644), PASSWORD, None),
    access("no file of rules", [r'"\S*/hba".*No such file'], None, HBA, 2, data="new"),
    access("a file of rules without rules", [r'"\S*/hba" contains no entries'], rules("# soon\n"), HBA, 2, data="new"),
    access("rules that are wrong", [r'/hba: line 2: invalid connection type "hots"; line 3: .*"ldap" is not supported'],
           rules("local all all peer\nhots all all all trust\nhost all all all ldap\n"), HBA, 2, data="new"),
    access("a rule that nobody can meet", [r"/hba: line 2: hostssl record cannot match because there is no --ssl-cert-file"],
           rules("host all all all trust\nhostssl all all all trust\n"), HBA, None),
    access("two ways to say who needs a password", [r"--trust-loopback", r"--hba"], rules("host all all all trust\n"),
           [*HBA, "--trust-loopback", "off"], 2, data="new"),
    access("maps without rules", [r"--ident needs --hba"], file("ident", "m a b\n"), ["--ident", "{place}/ident"], 2, data="new"),
    access("no directory for a socket", [r'socket directory "/proc/nowhere": No such file', "HINT"], None, ["--socket", "/proc/nowhere"], data="new"),
    access("a socket of a server that lives", [r'Unix socket "\S*": another server lives there', "HINT"], socket_taken, SOCKET, mend=close_others,
           data="new"),
    access("no key file", [r'"\S*/key".*No such file'], None, ENCRYPTED, 2, data="new"),
    access("a key that is too short", [r"/key", r"64 hex digits", r"openssl rand"], file("key", "1234"), ENCRYPTED, 2, data="new"),
    access("a key file that others can read", [r'"\S*/key".*all users', r"chmod"], lambda p: (encrypted(p), os.chmod(p.path("key"), 0o644)),
           ENCRYPTED, None, answers=False),
    access("the key of another database", [r"encrypt.*another key|not the key", "HINT"], wrong_key, ENCRYPTED, answers=False, data="new"),
    access("no key for an encrypted database", [r"encrypted", "--encryption-key-file"], encrypted, answers=False, data="new"),
    access("a key for a database that is not encrypted", [r"not encrypted", "HINT"], file("key", KEY), ENCRYPTED),
]
