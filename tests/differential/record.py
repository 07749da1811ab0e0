"""Writes cases on which both servers agree as .slt files, which tests/support/slt_runner.cpp replays without PostgreSQL."""
import os
import re

from minimise import Case
from run import FRESH, RESTART

STATEMENTS_PER_FILE = 100
SQL_MAX, ROWS_MAX, CELL_MAX = 600, 25, 200  # what is longer is no good to read and to keep
# Types whose equal values may look different; a group's representative may be another one under another configuration.
LOOKS = {1700, 700, 701, 1186, 1042, 1231, 1021, 1022, 1187, 1014}


class Recorder:
    """Collects the records of one kind of schema. A file is written when enough statements have come together."""

    def __init__(self, directory, kind, seed):
        self.directory, self.kind, self.seed = directory, kind, seed
        self.records, self.count, self.files = [], 0, 0
        os.makedirs(directory, exist_ok=True)

    def begin(self, case: Case):
        self.records += [f"statement ok\n{sql}\n" for sql in [*FRESH, *(n.text() for t in case.tables for n in t.statements())]]

    def add(self, sql, answer, notes, ordered, must=False):
        """A statement that both answered in the same way. Those that later ones build on `must` be kept."""
        record = self.text(sql, answer, notes, ordered)
        if record is None and must:
            record = f"statement ok\n{sql}\n" if not answer.state else f"statement error ({answer.state})\n{sql}\n"
        if record is not None:
            self.records.append(record)
            self.count += not must or notes is not None
        if sql in RESTART:
            self.records.append("statement ok\nSET search_path = differential\n")

    def text(self, sql, answer, notes, ordered):
        if sql in RESTART:
            return "restart\n"
        risky = notes is not None and notes.can_fail and not notes.exact  # another order of evaluation may fail, or not
        # Without the optimizer, some correlated grouping sets are not built.
        risky |= notes is not None and "GROUP" in sql and re.search("LATERAL.*(ROLLUP|CUBE|GROUPING SETS)", sql) is not None
        if notes is None or risky or len(sql) > SQL_MAX or "\n\n" in sql:
            return None
        if answer.state:
            if answer.state == "0A000" or notes.can_fail > 1:
                return None
            exact = f" @{answer.position}" if answer.position else ""
            wording = f"{exact} {answer.message}" if notes.exact or not notes.can_fail else ""
            return f"statement error ({answer.state}){wording}\n{sql}\n" if "\n" not in wording else None
        if answer.rows is None:
            return f"statement ok\n{sql}\n"
        loose = notes.inexact or notes.ambiguous and any(c[1] in LOOKS for c in answer.columns)
        if loose or len(answer.rows) > ROWS_MAX or any(len(c or "") > CELL_MAX for row in answer.rows for c in row):
            return None
        lines = ["\t".join("NULL" if c is None else cell(c) for c in row) for row in answer.rows]
        if not ordered:
            lines.sort(key=str.encode)
        return "\n".join([f"query{'' if ordered else ' rowsort'}", sql, "----", *lines]) + "\n"

    def end_of_schema(self):
        if self.count >= STATEMENTS_PER_FILE:
            self.write()

    def write(self):
        if not self.records:
            return
        self.files += 1
        path = os.path.join(self.directory, f"{self.kind}_{self.files:02}.slt")
        head = f"# Recorded from PostgreSQL 15 by tests/differential/main.py --record, seed {self.seed}.\n\n"
        with open(path, "w") as file:
            file.write(head + "\n".join(self.records))
        self.records, self.count = [], 0


def cell(text):
    """A value as slt_runner prints it."""
    return text.replace("\n", "\\n").replace("\t", "\\t") or "(empty)"
