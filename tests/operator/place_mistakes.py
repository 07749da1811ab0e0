"""Mistakes about directories and files: what is there, whose it is, and what has been done to it."""
import ctypes.util
import glob
import os
import shutil
import struct

from machine import Server
from mistake import Mistake

SERVE = ["--data", "{data}", "--port", "0", "--threads", "1"]


def place(name, says, prepare=None, flags=(), **more):
    return Mistake(name, says, [*SERVE, *flags], prepare=prepare, **more)


def a_file_for_data(place):
    place.write("data", "I am a file")


def a_file_above(place):
    place.write("data", "I am a file")
    place.data = place.path("data", "below")


def forbidden_parent(place):
    os.chmod(place.root, 0o555)


def forbidden_data(place):
    place.give(place.data)
    os.chmod(place.data, 0o555)


def belongs_to_root(place):
    os.chmod(place.data, 0o700)


def read_only(place):
    place.mount(place.data, "--bind", place.data)
    place.mount(place.data, "-o", "remount,bind,ro")
    place.mounts.pop()


def unmount(place):
    os.system(f"umount {place.data}")


def in_use(place):
    place.others.append(place.serve().wait_until_ready())


def end_others(place):
    place.others[0].stop()


def other_programs_files(place):
    os.mkdir(place.data)
    with open(os.path.join(place.data, "notes.txt"), "w") as file: file.write("my notes")


def postgres_files(place):
    os.mkdir(place.data)
    with open(os.path.join(place.data, "PG_VERSION"), "w") as file: file.write("15\n")


def newest(place, kind):
    return sorted(glob.glob(os.path.join(place.data, kind, "*")))[0]


def away(*kinds):
    def prepare(place):
        os.mkdir(place.path("kept"))
        for kind in kinds:
            if os.path.exists(os.path.join(place.data, kind)): shutil.move(os.path.join(place.data, kind), place.path("kept", kind))
    return prepare


def back(place):
    for kind in os.listdir(place.path("kept")):
        shutil.rmtree(os.path.join(place.data, kind), ignore_errors=True)
        shutil.move(place.path("kept", kind), os.path.join(place.data, kind))


def keep(place):
    shutil.copytree(place.data, place.path("copy"))


def restore(place):
    shutil.rmtree(place.data)
    shutil.move(place.path("copy"), place.data)


def damage(kind):
    """Another byte in the middle of the newest file of a kind."""
    def prepare(place):
        keep(place)
        path = newest(place, kind)
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 0x55]))
    return prepare


def shorten(kind):
    def prepare(place):
        keep(place)
        path = newest(place, kind)
        os.truncate(path, os.path.getsize(path) // 2)
    return prepare


def other_format(kind):
    """An object whose format is 99: its first byte, behind a seal of magic, size and checksum (docs/FORMAT.md)."""
    def prepare(place):
        keep(place)
        hashes = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
        hashes.XXH3_64bits.restype, hashes.XXH3_64bits.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
        path = newest(place, kind)
        with open(path, "rb") as file: seal, content = file.read(24), file.read()
        content = b"\x63" + content[1:]
        with open(path, "wb") as file: file.write(seal[:16] + struct.pack("<Q", hashes.XXH3_64bits(content, len(content))) + content)
    return prepare


def wal_elsewhere(place):
    """The log of another database in --wal."""
    os.mkdir(place.path("other"))
    other = Server(["serve", "--data", place.path("other", "data"), "--wal", place.path("wal"), "--port", "0", "--threads", "1"]).wait_until_ready()
    other.sql("CREATE TABLE o (n integer)")
    other.kill()


def a_file(name):
    def prepare(place):
        place.write(name, "I am a file")
    return prepare


def forbidden(name, also=()):
    def prepare(place):
        place.give(place.data)
        os.mkdir(place.path(name))
        os.chmod(place.path(name), 0o555)
    return prepare


MISTAKES = [
    place("a file for a data directory", [r'"\S*/data".*not a directory', r"--data"], a_file_for_data, data="new", answers=False),
    place("a data directory below a file", [r'"\S*/data.*".*not a directory'], a_file_above, data="new", answers=False),
    place("no right to make the data directory", [r'"\S*/data".*permission denied', "HINT"], forbidden_parent, data="new", as_nobody=True),
    place("no right to write the data directory", [r'"\S*/data\S*".*permission denied', "HINT"], forbidden_data, as_nobody=True),
    place("the data directory of another user", [r'"\S*/data\S*".*permission denied', "HINT"], belongs_to_root, as_nobody=True),
    place("a read-only file system", [r'"\S*/data\S*".*read-only', "HINT"], read_only, mend=unmount, mounts=True),
    place("a database in use", [r"in use", r'\S*/data|process \d+', r"stop|other directory|--take-over"], in_use, mend=end_others),
    place("files of another program", [r'"\S*/data".*not empty|holds files', r"HINT"], other_programs_files, data="new", answers=False),
    place("PostgreSQL's data directory", [r'"\S*/data"', "PostgreSQL"], postgres_files, data="new", answers=False),
    place("a log without its database", [r"write-ahead log", r"manifest", "HINT"], away("manifest", "table", "catalog", "writer"), mend=back),
    place("no manifest", [r"manifest", "HINT"], away("manifest"), mend=back),
    place("no manifest and no log", [r"manifest", "HINT"], away("manifest", "wal"), mend=back),
    place("no catalog", [r"catalog/", "HINT"], away("catalog"), mend=back),
    place("no tables", [r"table/", "HINT"], away("table"), mend=back),
    place("no log after a crash", [r"write-ahead log is missing in \"\S*/wal\"", r"--take-over"], away("wal"), mend=back, data="killed"),
    place("a damaged manifest", [r"manifest/", "HINT"], damage("manifest"), mend=restore),
    place("half a manifest", [r"manifest/", "HINT"], shorten("manifest"), mend=restore),
    place("a damaged catalog", [r"catalog/", "HINT"], damage("catalog"), mend=restore),
    place("a damaged writer", [r"writer/", "HINT"], damage("writer"), mend=restore),
    place("a database of another format", [r"incompatible with server", r"format 99.*format \d+", r"newer server.*with that server"],
          other_format("manifest"), mend=restore),
    place("a lease of another format", [r"incompatible with server", r"format 99.*format \d+", r"newer server"], other_format("writer"), mend=restore),
    place("the log of another database", [r'"\S*/wal/', r"another database", "HINT"], wal_elsewhere, ["--wal", "{place}/wal"], answers=False),
    place("a file for a log directory", [r'"\S*/wal".*not a directory'], a_file("wal"), ["--wal", "{place}/wal"], data="new", answers=False),
    place("no right to write the log", [r'"\S*/wal\S*".*permission denied', "HINT"], forbidden("wal"), ["--wal", "{place}/wal"], as_nobody=True),
    place("no right to spill", [r'"\S*/spill\S*".*permission denied', "HINT"], forbidden("spill"), ["--spill", "{place}/spill"], as_nobody=True),
    place("a file for a spill directory", [r'"\S*/spill".*not a directory'], a_file("spill"), ["--spill", "{place}/spill"]),
    place("no right to write log files", [r'"\S*/logs\S*".*permission denied'], forbidden("logs"), ["--config", "{place}/ouzel.conf"], as_nobody=True,
          file="log_directory = '{place}/logs'\n"),
    place("a file for log files", [r'"\S*/logs\S*".*(not a directory|file exists)'], a_file("logs"), ["--config", "{place}/ouzel.conf"],
          file="log_directory = '{place}/logs'\n"),
    place("a reader of nothing", [r"there is no database in \"\S*/data\""], None, ["--read-only"], data="new"),
]
