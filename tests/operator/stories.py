"""What goes wrong while a server starts or runs: nothing that was committed is lost, and the next start is well."""
import dataclasses
import os
import random
import signal
import struct
import subprocess
import time
import typing

import access_stories
import allocation_stories
import floor_stories
import limit_stories
import rest_stories
import spill_stories
from machine import ROWS, ROWS_ANSWER, Server
from mistake import check, messages


@dataclasses.dataclass
class Story:
    name: str
    tell: typing.Callable
    data: str = "rows"
    mounts: bool = False
    as_nobody: bool = False
    program: str = ""  # of others, without which it is skipped


def has_all(place, rows=ROWS, answer=ROWS_ANSWER):
    server = place.serve().wait_until_ready()
    place.others.append(server)
    check(server.sql(rows) == answer, "rows are lost")
    server.stop()


def stopped_while_it_starts(number, statuses):
    """A signal at some moment of a start ends the server, which is told by its status."""
    def tell(place):
        chance = random.Random(number)
        for _ in range(8):
            server = place.serve()
            time.sleep(chance.random() * 0.4)
            server.process.send_signal(number)
            status = server.end(30)
            check(status in statuses, f"status {status}:\n{server.stderr}")
            check(not [m for m in messages(server.stderr)], f"it complains:\n{server.stderr}")
        has_all(place)
    return tell


def killed_while_it_is_made(place):
    chance = random.Random(5)
    for _ in range(8):
        server = place.serve()
        time.sleep(chance.random() * 0.4)
        server.kill()
    server = place.serve().wait_until_ready()
    server.sql("CREATE TABLE t (n integer)")
    server.stop()
    check(not messages(server.stderr), f"it complains:\n{server.stderr}")


def stopped_while_it_waits_for_a_lease(place):
    """The lease of another machine's server, which --take-over waits for: SIGTERM ends the wait."""
    first = place.serve("--lease-seconds", "60").wait_until_ready()
    first.process.send_signal(signal.SIGSTOP)
    try:
        second = place.serve("--take-over")
        time.sleep(1)
        second.process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        second.end(10)
        check(time.monotonic() - begin < 5, f"it waited on:\n{second.stderr}")
    finally:
        first.process.send_signal(signal.SIGCONT)
    first.stop()
    has_all(place)


def disk_full_in_the_middle(place):
    """Statements that need more room fail with 53100, the server goes on, and there is no loss."""
    directory = place.path("small")
    place.mount(directory, "-t", "tmpfs", "-o", "size=24m", "none")
    place.data = os.path.join(directory, "data")
    server = place.serve("--memory-limit", "256MB").wait_until_ready()
    place.others.append(server)
    server.sql("CREATE TABLE t (n integer, s text); INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 3000) g")
    for _ in range(80):
        failed = server.attempt("INSERT INTO t SELECT -g, md5(random()::text) || md5(random()::text) FROM generate_series(1, 50000) g")
        if failed: break
    check("53100" in failed and "No space left" in failed, f"the disk is not full: {failed}")
    check(server.sql("SELECT count(*), sum(n) FROM t WHERE n > 0") == "3000|4501500", "the server has lost rows")
    server.process.send_signal(signal.SIGTERM)
    server.end(60)
    os.system(f"mount -o remount,size=200m {directory}")
    again = place.serve("--memory-limit", "256MB").wait_until_ready()
    place.others.append(again)
    check(again.sql("SELECT count(*), sum(n) FROM t WHERE n > 0") == "3000|4501500", "rows are lost")
    again.stop()


def out_of_handles_in_the_middle(place):
    """Connections beyond the handles wait or are refused; the others go on."""
    import socket
    server = place.serve(limits={"RLIMIT_NOFILE": 100}).wait_until_ready()
    place.others.append(server)
    idle = []
    for _ in range(120):
        one = socket.socket()
        one.connect(("127.0.0.1", server.port))
        idle.append(one)
    time.sleep(0.5)
    for one in idle: one.close()
    time.sleep(1.5)
    check(server.sql(ROWS) == ROWS_ANSWER, "it does not answer")
    server.stop()
    check(len([m for m in messages(server.stderr) if "handles" in m.text]) <= 3, f"it says too much:\n{server.stderr}")
    has_all(place)


def a_reload_with_mistakes(place):
    """SIGHUP with a broken file: one ERROR, and the old settings stay."""
    place.write("ouzel.conf", "statement_timeout = 7s\n")
    server = place.serve("--config", place.path("ouzel.conf")).wait_until_ready()
    place.others.append(server)
    place.write("ouzel.conf", "statement_timeout = soon\n")
    server.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    check(server.sql("SHOW statement_timeout") == "7s", "a broken file changed settings")
    found = messages(server.stderr)
    check(len(found) == 1 and "statement_timeout" in found[0].text and "no changes were applied" in found[0].text, f"not one message:\n{server.stderr}")
    os.remove(place.path("ouzel.conf"))
    server.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    check(server.sql("SHOW statement_timeout") == "7s", "a missing file changed settings")
    check(len(messages(server.stderr)) == 2, f"not two messages:\n{server.stderr}")
    server.stop()


def lost_blocks(place):
    """A start does not look into every block. A query tells which is missing, and check counts it."""
    blocks = [os.path.join(directory, name) for directory, _, names in os.walk(os.path.join(place.data, "table")) for name in names
              if os.path.basename(directory) == "block"]
    check(blocks, "there are no blocks")
    for block in blocks: os.rename(block, place.path(os.path.basename(block)))
    server = place.serve()
    place.others.append(server)
    for _ in range(100):
        if server.process.poll() is not None or "psql" in server.text(server.out): break
        time.sleep(0.05)
    if server.process.poll() is None:
        server.wait_until_ready()
        failed = server.sql("SELECT sum(n) FROM t", fails=True)
        check("block/" in failed and ("58P01" in failed or "XX001" in failed), f"the query does not name the block: {failed}")
        server.kill()
    checked = Server(["check", "--data", place.data])
    check(checked.end(30) == 1, "check finds nothing")
    check("block/" in checked.text(checked.out) + checked.stderr, f"check does not name the block: {checked.text(checked.out)}{checked.stderr}")
    for block in blocks: os.rename(place.path(os.path.basename(block)), block)
    has_all(place)


def check_of_a_running_server(place):
    """It does no harm."""
    server = place.serve().wait_until_ready()
    place.others.append(server)
    checked = Server(["check", "--data", place.data])
    status = checked.end(30)
    check(status in (0, 1), f"status {status}: {checked.stderr}")
    check(server.sql(ROWS) == ROWS_ANSWER, "rows are missing")
    server.stop()
    has_all(place)


def a_log_that_nobody_reads(place):
    """stderr is a pipe whose reader has stopped: sessions go on after a second, and the lines that are lost are counted."""
    place.write("ouzel.conf", "log_statement = all\n")
    reading, writing = os.pipe()
    server = Server(["serve", "--data", place.data, "--port", "0", "--threads", "1", "--config", place.path("ouzel.conf")], stderr=writing)
    os.close(writing)
    place.others.append(server)
    server.wait_until_ready()
    begin = time.monotonic()
    for _ in range(40):
        check(not server.attempt("SELECT length('" + "x" * 5000 + "')"), "statements fail")
    check(time.monotonic() - begin < 120, f"40 statements took {time.monotonic() - begin:.0f} s")
    begin = time.monotonic()
    os.set_blocking(reading, False)
    read = b""
    while b"were dropped because nobody read" not in read and time.monotonic() - begin < 60:
        try: read += os.read(reading, 1 << 20)
        except BlockingIOError: server.sql("SELECT 1")
    check(b"were dropped because nobody read" in read, "the dropped lines are not counted")
    server.stop()
    os.close(reading)


CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec* time) {
   static int (*real)(clockid_t, struct timespec*);
   static volatile long* shift;
   if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
   if (!shift) {
      void* page = mmap(0, 8, PROT_READ, MAP_SHARED, open(getenv("OUZEL_TEST_CLOCK"), O_RDONLY), 0);
      shift = page;
   }
   const int result = real(id, time);
   if (id == CLOCK_REALTIME) time->tv_sec += *shift;
   return result;
}
"""


def a_clock_that_jumps(place):
    """Time of day goes back and forth: commits, timeouts, the lease and the log go on."""
    library, shift = place.path("clock.so"), place.write("shift", bytes(8))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, place.write("clock.c", CLOCK), "-ldl"], check=True, capture_output=True)

    def jump(seconds):
        with open(shift, "r+b") as file: file.write(struct.pack("<q", seconds))
    place.certificate()
    server = place.serve("--lease-seconds", "2", "--ssl-cert-file", place.path("server.crt"), "--ssl-key-file", place.path("server.key"),
                         environment={"LD_PRELOAD": library, "OUZEL_TEST_CLOCK": shift}).wait_until_ready()
    place.others.append(server)
    server.sql("CREATE TABLE times (n integer)")
    for number, seconds in enumerate([0, -3600, 86400, -10 * 365 * 86400, 10 * 365 * 86400, 0]):
        sleeper = subprocess.Popen(["psql", "-XAtqh", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "-c", "SET statement_timeout = '50s'", "-c",
                                    "SELECT pg_sleep(1.5)"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.3)
        begin = time.monotonic()
        jump(seconds)
        server.sql(f"INSERT INTO times VALUES ({number}); CHECKPOINT")
        told = float(server.sql("SELECT extract(epoch FROM now())", connection="sslmode=require"))
        check(abs(told - time.time() - seconds) < 30, f"now() is {told - time.time():.0f} s off, not {seconds}")
        _, problem = sleeper.communicate(timeout=60)
        check(not problem and time.monotonic() - begin < 50, f"a sleep of 1.5 s took {time.monotonic() - begin:.1f} s: {problem}")
    time.sleep(3)  # longer than the lease
    check(server.sql("SELECT count(*), sum(n) FROM times") == "6|15", "rows are missing")
    server.stop()
    check(not messages(server.stderr), f"it complains:\n{server.stderr}")
    has_all(place)


def help_of_each_command(place):
    for command in ("serve", "check", "ready"):
        server = Server([command, "--help"])
        check(server.end(10) == 0 and server.stderr == "", f"{command} --help: {server.stderr}")
        check(f"ouzel {command}" in server.text(server.out), f"{command} --help says nothing")


STORIES = [
    Story("SIGTERM during a start", stopped_while_it_starts(signal.SIGTERM, (0, -signal.SIGTERM))),
    Story("SIGTERM during a start after a crash", stopped_while_it_starts(signal.SIGTERM, (0, -signal.SIGTERM)), "killed"),
    Story("SIGINT during a start", stopped_while_it_starts(signal.SIGINT, (0, -signal.SIGINT)), "killed"),
    Story("SIGKILL while a database is made", killed_while_it_is_made, "new"),
    Story("SIGTERM while a start waits for a lease", stopped_while_it_waits_for_a_lease),
    Story("a disk that fills up", disk_full_in_the_middle, "new", mounts=True),
    Story("too few file handles for clients", out_of_handles_in_the_middle),
    Story("SIGHUP with a broken configuration file", a_reload_with_mistakes),
    Story("blocks that are lost", lost_blocks),
    Story("check of a running server", check_of_a_running_server),
    Story("a log that nobody reads", a_log_that_nobody_reads),
    Story("a clock that jumps", a_clock_that_jumps),
    *(Story(name, tell) for name, tell in access_stories.TELLS.items()),
    *(Story(name, tell, "new") for name, tell in floor_stories.TELLS.items()),
    *(Story(name, tell, "new") for name, tell in (limit_stories.TELLS | allocation_stories.TELLS).items()),
    *(Story(name, tell, "new", program="redis-server") for name, tell in spill_stories.TELLS.items()),
    *(Story(name, tell, "new") for name, tell in rest_stories.TELLS.items()),
    *(Story(name, tell, "new", mounts=True) for name, tell in rest_stories.WITH_MOUNTS.items()),
    Story("the help of each command", help_of_each_command),
]
