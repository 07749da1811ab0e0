"""Too little of something: memory, file handles, room on a disk."""
import os
import shutil

from mistake import Mistake
from place_mistakes import SERVE


def resource(name, says, prepare=None, flags=(), status=1, **more):
    return Mistake(name, says, [*SERVE, *flags], status, prepare=prepare, **more)


def small_disk(kilobytes, left):
    """The database on a file system of its own, of which only `left` bytes are free."""
    def prepare(place):
        disk = place.path("disk")
        place.mount(disk, "-t", "tmpfs", "-o", f"size={kilobytes}k", "none")
        if os.path.exists(place.data): shutil.copytree(place.data, os.path.join(disk, "data"))
        place.data = os.path.join(disk, "data")
        free = os.statvfs(disk)
        with open(os.path.join(disk, "ballast"), "wb") as file: file.write(bytes(max(free.f_bavail * free.f_bsize - left, 0)))
    return prepare


def make_room(place):
    os.remove(place.path("disk", "ballast"))


MISTAKES = [
    resource("more memory than the machine has", [r"memory_limit|--memory-limit", r"machine", "HINT"], None, ["--memory-limit", "900TB"], None),
    resource("too few file handles to start", [r"file (handles|descriptors)|open files", r"ulimit|LimitNOFILE"], limits={"RLIMIT_NOFILE": 12}),
    resource("too few file handles to start a new database", [r"file (handles|descriptors)|open files", r"ulimit|LimitNOFILE"],
             limits={"RLIMIT_NOFILE": 20}, data="new"),
    resource("fewer file handles than connections", [r"only 600 file handles", r"max_connections \(2000\)", r"ulimit|LimitNOFILE"], status=None,
             limits={"RLIMIT_NOFILE": 600}),
    resource("files that may not grow", [r'"\S*/data/\S*".*File too large', "HINT"], limits={"RLIMIT_FSIZE": 1000}, data="new", leaves=True),
    resource("too little address space", [r"memory|thread", "HINT"], limits={"RLIMIT_AS": 190 << 20}),
    resource("a full disk for a new database", [r'"\S*/data\S*".*No space left', "HINT"], small_disk(65536, 0), mounts=True, data="new", mend=make_room,
             leaves=True),
    resource("a full disk", [r'"\S*/data\S*".*No space left', "HINT"], small_disk(65536, 0), mounts=True, mend=make_room),
    resource("a full disk after a crash", [r'"\S*/data\S*".*No space left', "HINT"], small_disk(65536, 0), mounts=True, mend=make_room, data="killed"),
]
