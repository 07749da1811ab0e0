"""The two servers under comparison: connections, answers, and the Ouzel process, which this module starts and stops."""
import os
import select
import signal
import subprocess
import time

from psycopg import pq

ANSWER_SECONDS = 40  # past statement_timeout: whoever has not answered by then hangs


class Answer:
    """What a server said to one statement: rows, or an error, or nothing ("lost", "hang")."""

    def __init__(self, state="", message="", columns=(), rows=None, tag="", position=0):
        self.state, self.message, self.columns, self.rows, self.tag = state, message, list(columns), rows, tag
        self.position = position

    def describe(self, limit=12):
        if self.state:
            return f"{self.state} {self.message}"
        if self.rows is None:
            return self.tag
        shown = [" | ".join("NULL" if c is None else c for c in row) for row in self.rows[:limit]]
        more = [f"... ({len(self.rows)} rows)"] if len(self.rows) > limit else []
        return "\n".join([f"{self.tag} columns {self.columns}"] + shown + more)


class Connection:
    """One session. `send` and `answer` are apart, so that both servers work at the same time."""

    def __init__(self, conninfo, seconds, settings=()):
        self.conninfo, self.seconds, self.settings, self.raw = conninfo, seconds, settings, None

    def open(self):
        self.raw = pq.PGconn.connect(self.conninfo.encode())
        if self.raw.status != pq.ConnStatus.OK:
            raise ConnectionError(self.raw.error_message.decode(errors="replace"))
        self.raw.notice_handler = lambda _: None
        for sql in ("SET client_min_messages = warning", f"SET statement_timeout = '{self.seconds}s'", "SET timezone = 'UTC'", *self.settings):
            result = self.raw.exec_(sql.encode())
            if result.status == pq.ExecStatus.FATAL_ERROR:
                raise ConnectionError(f"{sql}: {result.error_message.decode()}")

    def close(self):
        if self.raw:
            self.raw.finish()
            self.raw = None

    def send(self, sql):
        try:
            self.raw.send_query(sql.encode())
        except Exception as error:  # psycopg raises its own errors for a connection that is gone
            self.failed = Answer("LOST", str(error))
        else:
            self.failed = None

    def answer(self):
        if self.failed:
            return self.failed
        deadline, answer = time.monotonic() + ANSWER_SECONDS, None
        while True:
            while self.raw.is_busy():
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self.raw.socket], [], [], left)[0]:
                    return Answer("HANG", "no answer")
                try:
                    self.raw.consume_input()
                except Exception as error:
                    return Answer("LOST", str(error))
            result = self.raw.get_result()
            if result is None:
                return answer or Answer("LOST", "no result")
            answer = joined(answer, read(result))
            if self.raw.status == pq.ConnStatus.BAD:
                return Answer("LOST", answer.message)

    def run(self, sql):
        self.send(sql)
        return self.answer()


def joined(first, second):
    """The answer to several statements: an error wins, rows follow each other."""
    if first is None or not first.state and (second.state or first.rows is None):
        return second
    if not first.state and second.rows is not None:
        first.rows += second.rows
    return first


def read(result):
    """libpq's result as an Answer."""
    if result.status == pq.ExecStatus.FATAL_ERROR:
        field = lambda code: (result.error_field(code) or b"").decode(errors="replace")
        return Answer(field(pq.DiagnosticField.SQLSTATE) or "LOST", field(pq.DiagnosticField.MESSAGE_PRIMARY) or
                      result.error_message.decode(errors="replace"), position=field(pq.DiagnosticField.STATEMENT_POSITION))
    tag = (result.command_status or b"").decode()
    if result.status != pq.ExecStatus.TUPLES_OK:
        return Answer(tag=tag)
    columns = [(result.fname(i).decode(), result.ftype(i), result.fmod(i)) for i in range(result.nfields)]
    rows = [tuple(None if (v := result.get_value(r, c)) is None else v.decode(errors="replace") for c in range(result.nfields))
            for r in range(result.ntuples)]
    return Answer(columns=columns, rows=rows, tag=tag)


def settle(connection, process):
    """True when the process is still alive some time after a connection was lost."""
    connection.close()
    if process is None:
        return True
    for _ in range(40):
        if process.poll() is not None:
            return False
        time.sleep(0.05)
    return True


class Ouzel:
    """A server process over a directory of its own, or one that runs already (binary None)."""

    def __init__(self, binary, data, port):
        self.binary, self.data, self.port, self.process = binary, data, port, None

    def conninfo(self):
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"

    def start(self):
        if not self.binary:
            return
        self.log = open(self.data + ".log", "wb")
        self.process = subprocess.Popen([self.binary, "serve", "--data", self.data, "--port", str(self.port), "--memory-limit", "2GB"],
                                        stdout=self.log, stderr=self.log)
        for _ in range(1200):
            if "is ready" in self.last_words():
                return
            if self.process.poll() is not None:
                raise ConnectionError(f"ouzel ended with {self.process.returncode}:\n{self.last_words()}")
            time.sleep(0.05)
        raise ConnectionError("ouzel does not get ready")

    def stop(self, how=signal.SIGTERM):
        """False when a SIGTERM did not end it well."""
        if not self.process:
            return True
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        return code == 0 or how != signal.SIGTERM

    def start_empty(self):
        """After a database that cannot be opened; its directory stays for whoever looks into it."""
        os.rename(self.data, f"{self.data}-{time.monotonic_ns()}")
        self.start()

    def last_words(self):
        return "\n".join(open(self.data + ".log", errors="replace").read().splitlines()[-12:])
