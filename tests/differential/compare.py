"""Whether two answers agree, and what kind of difference it is if they do not."""
import re

NUMERIC, FLOATS, INTERVAL, BPCHAR = 1700, (700, 701), 1186, 1042
ARRAY_OF = {1231: 1700, 1021: 700, 1022: 701, 1187: 1186, 1014: 1042}  # arrays whose elements may look different

# Kinds of difference, the most serious first. "error order" means that only one server met a failing call, which the
# freedom to choose an order of evaluation allows; "not built" is 0A000.
SERIOUS = ["crash", "internal", "rows", "types", "tag", "refused", "accepted", "state"]
COUNTED = ["representation", "inexact", "wording", "error order", "not built", "known"]


class Difference:
    def __init__(self, kind, detail):
        self.kind, self.detail = kind, detail

    def key(self):
        """Differences with equal keys are taken for the same while one is made smaller."""
        text = "" if self.kind == "rows" else re.sub(r"(verification after \w+), \w+|relabel\(.*|#\d+.*", r"\1", self.detail)
        return self.kind, re.sub(r'"[^"]*"|\d+', "?", text)


def compare(expected, got, notes, ordered):
    """None, or the Difference between PostgreSQL's answer and Ouzel's."""
    if expected.state == "57014":
        return None  # PostgreSQL is too slow for this one
    if got.state in ("LOST", "HANG") or got.state[:2] == "57":
        return None if expected.state == got.state else Difference("crash", f"{got.state} {got.message}")
    if got.state[:2] in ("XX", "58"):
        return Difference("internal", f"{got.state} {got.message}")
    if got.state == "0A000" and expected.state != "0A000" and "supported" in got.message:
        return Difference("not built", got.message)
    if expected.state or got.state:
        return compare_errors(expected, got, notes)
    if expected.rows is None or got.rows is None:
        return None if expected.tag == got.tag else Difference("tag", f"{expected.tag} / {got.tag}")
    if [c[:2] for c in expected.columns] != [c[:2] for c in got.columns]:
        return Difference("types", f"{expected.columns} / {got.columns}")
    return compare_rows(expected, got, notes, ordered)


def compare_errors(expected, got, notes):
    if expected.state == got.state:
        if expected.state[:2] in ("22", "23", "21") and not notes.exact:
            return None  # which row or call fails first is free
        if expected.message == got.message and expected.position == got.position:
            return None
        return Difference("wording", f"{expected.state} {expected.message} @{expected.position} / {got.message} @{got.position}")
    if expected.state and got.state and notes.several:
        return Difference("error order", f"{expected.state} / {got.state}")
    data = lambda answer: answer.state[:2] in ("", "22", "21", "23") or answer.message.startswith("cannot convert ")
    if data(expected) and got.rows == []:
        return Difference("error order", f"{expected.state} / no rows")  # PostgreSQL folds constants that no row needs
    if data(expected) and data(got) and (notes.can_fail > 1 or not notes.exact and notes.can_fail):
        return Difference("error order", f"{expected.state or 'rows'} / {got.state or 'rows'}")
    if not expected.state:
        return Difference("refused", f"{got.state} {got.message}")
    if not got.state:
        return Difference("accepted", f"{expected.state} {expected.message}")
    return Difference("state", f"{expected.state} {expected.message} / {got.state} {got.message}")


def compare_rows(expected, got, notes, ordered):
    if expected.rows == got.rows or not ordered and sorted(expected.rows, key=plain) == sorted(got.rows, key=plain):
        return None
    types = [c[1] for c in expected.columns]
    if loosely_equal(expected.rows, got.rows, types, ordered):
        if notes.ambiguous or notes.inexact and any(t in FLOATS for t in types):
            return None
        return Difference("representation", f"types {types}")
    if notes.inexact and len(expected.rows) == len(got.rows):
        return Difference("inexact", "sums of floats in another order")  # cube roots and the like make the last digit a first one
    return Difference("rows", f"{len(expected.rows)} / {len(got.rows)} rows")


def loosely_equal(left, right, types, ordered):
    """Whether the rows agree when equal values may look different. Rounding may part two floats that are close, so a
    second count of digits is tried."""
    for digits in (9, 7):
        loose = lambda rows: [tuple(canonical(c, t, digits) for c, t in zip(row, types)) for row in rows]
        order = (lambda rows: rows) if ordered else (lambda rows: sorted(rows, key=plain))
        if order(loose(left)) == order(loose(right)):
            return True
    return False


def plain(row):
    return tuple((c is None, c or "") for c in row)


def canonical(cell, type_oid, digits):
    """A text that is the same for values that PostgreSQL's = holds equal, floats rounded."""
    if cell is None:
        return None
    if type_oid == NUMERIC and "." in cell:
        return cell.rstrip("0").rstrip(".").replace("-0", "0") if set(cell) <= set("-0.") else cell.rstrip("0").rstrip(".")
    if type_oid in FLOATS and cell not in ("NaN", "Infinity", "-Infinity", "NULL"):
        rounded = f"{float(cell):.{digits if type_oid == 701 else 5}g}"
        return "0" if float(rounded) == 0 or abs(float(cell)) < 1e-12 else rounded
    if type_oid == BPCHAR:
        return cell.rstrip(" ")
    if type_oid == INTERVAL:
        return span(cell)
    if type_oid in ARRAY_OF:
        element = lambda found: canonical(found.group(0).strip('"'), ARRAY_OF[type_oid], digits)
        return re.sub(r'"(?:[^"\\]|\\.)*"|[^,{}]+', element, cell)
    return cell


def span(cell):
    """An interval in microseconds, months of 30 days and days of 24 hours."""
    units = {"year": 360 * 86400, "mon": 30 * 86400, "day": 86400}
    total = sum(int(n) * units[u] for n, u in re.findall(r"([+-]?\d+) (year|mon|day)s?", cell)) * 10**6
    clock = re.search(r"([+-]?)(\d+):(\d+):(\d+)(?:\.(\d+))?", cell)
    if clock:
        sign, hours, minutes, seconds, part = clock.groups()
        micros = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 10**6 + int((part or "0").ljust(6, "0"))
        total += -micros if sign == "-" else micros
    return str(total)
