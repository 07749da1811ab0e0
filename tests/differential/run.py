"""Both servers during a run: sends statements, finds differences, makes them smaller and prints them."""
import collections
import os
import shutil
import signal
import tempfile

import known
from compare import COUNTED, Difference, compare
from definitions import STATE
from minimise import minimise
from servers import Answer, Connection, Ouzel, settle

# Statements of a case that this program carries out itself: Ouzel is stopped or killed, and started again.
RESTART = ["RESTART", "KILL"]
FRESH = ["ROLLBACK", "DISCARD SEQUENCES", "DROP SCHEMA IF EXISTS differential CASCADE", "CREATE SCHEMA differential",
         "SET search_path = differential"]
ROWS_SHOWN = 40  # wrong rows have no key that tells their causes apart
IDLE, IN_ERROR = 0, 3  # libpq's transaction status


class Run:
    def __init__(self, args):
        self.args = args
        self.home = tempfile.mkdtemp(prefix="ouzel-differential-")
        self.ouzel = Ouzel(args.binary, os.path.join(self.home, "data"), args.port)
        self.ouzel.start()
        self.left = Connection(args.postgres, 5, ["SET jit = off", "SET synchronous_commit = off"])
        self.right = Connection(self.ouzel.conninfo(), 20, [])
        self.left.open()
        self.right.open()
        self.last_words = ""
        self.recorder = None  # a record.Recorder, when agreeing cases are written
        self.looks = ""  # how both sessions print dates, if not as usual
        self.failing = 0  # statements that PostgreSQL refuses
        self.statements, self.counts, self.seen = 0, collections.Counter(), collections.Counter()

    def end(self):
        self.left.run("DROP SCHEMA IF EXISTS differential CASCADE")
        self.left.close()
        self.right.close()
        well = self.ouzel.stop()
        shutil.rmtree(self.home, ignore_errors=True)
        return well

    def use_settings(self, settings):
        if settings != self.right.settings:
            self.right.close()
            self.right.settings = settings
            self.right.open()

    def both(self, sql):
        """The answers of PostgreSQL and of Ouzel."""
        if sql in RESTART:
            return self.restart(sql)
        if sql == "CHECKPOINT":  # of PostgreSQL it may take longer than its timeout
            return Answer(tag=sql), self.right.run(sql)
        self.left.send(sql)
        self.right.send(sql)
        return self.left.answer(), self.right.answer()

    def restart(self, how):
        """A restart of Ouzel, in place of a statement; PostgreSQL's session only loses its transaction."""
        self.left.run("ROLLBACK")
        nothing = self.left.run("SET search_path = differential")
        self.left.run("DISCARD SEQUENCES")
        self.right.close()
        well, words = self.ouzel.stop(signal.SIGTERM if how == "RESTART" else signal.SIGKILL), self.ouzel.last_words()
        trouble = "" if well else "the server did not stop well: " + words
        try:
            self.ouzel.start()
        except ConnectionError as error:
            trouble = f"the server does not start again: {error}"
            self.ouzel.start_empty()
        self.right.open()
        self.right.run("SET search_path = differential")
        return nothing, Answer("LOST", trouble[-600:]) if trouble else nothing

    def reopen(self):
        """After a lost connection or a hang: a new session, and a new process if the old one is gone."""
        if not settle(self.right, self.ouzel.process):
            self.counts["deaths"] += 1
            self.last_words = self.ouzel.last_words()
            try:
                self.ouzel.start()
            except ConnectionError as error:
                self.last_words += f"\nIt does not start again: {error}"
                self.ouzel.start_empty()
        self.right.open()
        self.right.run("SET search_path = differential")

    def in_transaction(self):
        return self.left.raw.transaction_status != IDLE

    def has_failed(self):
        """Whether one of the servers waits for the end of a failed transaction."""
        return IN_ERROR in (self.left.raw.transaction_status, self.right.raw.transaction_status)

    def state(self):
        """PostgreSQL's catalog of the schema, or None in a transaction that failed."""
        return None if self.has_failed() else [self.left.run(sql).rows for sql in STATE]

    def fresh(self, case):
        """Both servers have an empty schema, then the tables and the statements before."""
        for sql in FRESH:
            self.left.send(sql)
            self.right.send(sql)
            self.left.answer()
            if self.right.answer().state in ("LOST", "HANG"):
                self.reopen()
        return [self.both(sql) for sql in case.setup()]

    def difference(self, case, fresh):
        """What differs in the answers to the case's statement, or in the probes after it."""
        if fresh:
            self.fresh(case)
        elif self.has_failed() and not case.changes:
            self.both("ROLLBACK")
        if self.args.show:
            print(case.node.text() + ";")
        expected, got = self.both(case.node.text())
        self.answers = (expected, got)
        self.failing += bool(expected.state)
        if got.state in ("LOST", "HANG"):
            self.reopen()
        found = compare(expected, got, case.notes, case.ordered)
        if found or got.state or self.left.raw.transaction_status == IN_ERROR:
            return found
        for sql in self.each(case.probes):
            expected, got = self.both(sql)
            found = compare(expected, got, case.notes, False)
            if found:
                self.answers = (expected, got)
                return Difference(found.kind, f"then {sql[:60]}: {found.detail}")
        return None

    def each(self, probes):
        """The probes with those that "EACH" stands for."""
        for sql in probes:
            yield from [row[0] for row in self.left.run(sql[5:]).rows] if sql.startswith("EACH ") else [sql]

    def check(self, case, expected, got, label):
        """Like `difference` and `report`, with answers that are there already."""
        found = compare(expected, got, case.notes, False)
        if found:
            self.answers = (expected, got)
            self.report(case, found, label)
        return found

    def report(self, case, difference, label):
        """Count it; make it smaller and print it if it is serious and new."""
        kind = "known" if known.reason(difference) else difference.kind
        key = difference.key()
        self.counts[kind] += 1
        self.seen[(kind, key[1][:110])] += 1
        times = self.seen[(kind, key[1][:110])]
        serious = kind not in COUNTED
        if kind in ("error order", "inexact", "known") or times > (ROWS_SHOWN if kind == "rows" else self.args.repeat if serious or self.args.minimise_all else 1):
            return
        text = f"=== {kind}: {difference.detail[:400]} [{label}] {self.right.settings or ''} {self.looks}\n"
        if serious or self.args.minimise_all:
            text += self.smallest(case, key)
        else:
            text += case.node.text()[:600] + "\n"
        print(text, flush=True)

    def smallest(self, case, key):
        """The smallest case with the same difference as text, with both answers. The servers then stand as before it."""
        answers = {}

        def still_differs(smaller, fresh):
            found = self.difference(smaller, fresh)
            if found is None or found.key() != key:
                return False
            answers["last"] = self.answers
            return True

        small = minimise(case, still_differs)
        expected, got = answers.get("last", self.answers)
        text = "" if answers else "(does not differ when it is run again)\n"
        if not case.changes:
            self.fresh(case)
        if got.state == "LOST":
            text += "".join(f"-- {line}\n" for line in self.last_words.splitlines()[-4:])
        return text + small.text() + f"--- PostgreSQL\n{expected.describe()}\n--- Ouzel\n{got.describe()}\n"
