"""Makes a difference smaller: first the last statement on the tables as they are, then the tables, then both again."""
import time

from tree import TotalOrder, variants

SECONDS = 20  # after this the best case so far is good enough


class Case:
    """Tables, statements that come before, and the statement whose answers differ. After a statement that `changes`
    something, the queries `probes` are compared, too."""

    def __init__(self, tables, before, node=None, notes=None, changes=False, probes=()):
        self.tables, self.before, self.node, self.notes, self.changes, self.probes = tables, before, node, notes, changes, probes

    @property
    def ordered(self):
        return any(isinstance(n, TotalOrder) and n.parts for n in self.node.descendants())

    def copy(self, **changes):
        return Case(**{**self.__dict__, **changes})

    def nodes(self):
        return [s for t in self.tables for s in t.statements()] + self.before

    def setup(self):
        return [node.text() for node in self.nodes()]

    def size(self):
        return sum(map(len, self.setup())) + len(self.node.text())

    def text(self):
        return "".join(sql + ";\n" for sql in [*self.setup(), self.node.text()])


def minimise(case, still_differs, seconds=SECONDS):
    """The smallest case found for which `still_differs(case, fresh)` holds. `fresh` asks for new tables first."""
    deadline = time.monotonic() + seconds
    improved = True
    while improved and time.monotonic() < deadline:
        improved = False
        for step in (shrink_statement, shrink_setup):
            smaller = step(case, still_differs, deadline)
            improved |= smaller is not case
            case = smaller
    return case


def shrink_statement(case, still_differs, deadline):
    if not still_differs(case, True):
        return case
    again = True
    while again and time.monotonic() < deadline:
        again = False
        length = len(case.node.text())
        for node in variants(case.node):
            if len(node.text()) >= length or time.monotonic() > deadline:
                continue
            smaller = case.copy(node=node)
            if still_differs(smaller, case.changes):
                case, again = smaller, True
                break
    return case


def shrink_setup(case, still_differs, deadline):
    again = True
    while again and time.monotonic() < deadline:
        again = False
        for smaller in smaller_setups(case):
            if smaller.size() >= case.size() or time.monotonic() > deadline:
                continue
            if still_differs(smaller, True):
                case, again = smaller, True
                break
    return case


def smaller_setups(case):
    for i in range(len(case.tables)):
        yield case.copy(tables=case.tables[:i] + case.tables[i + 1:])
    size = len(case.before)
    while size >= 1:
        for start in range(0, len(case.before), size):
            yield case.copy(before=case.before[:start] + case.before[start + size:])
        size //= 2
    for i, table in enumerate(case.tables):
        for smaller in table.smaller() if hasattr(table, "smaller") else ():
            yield case.copy(tables=case.tables[:i] + [smaller] + case.tables[i + 1:])
    for i, node in enumerate(case.before):
        for smaller in variants(node):
            yield case.copy(before=case.before[:i] + [smaller] + case.before[i + 1:])
