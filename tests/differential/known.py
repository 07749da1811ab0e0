"""Differences that are known and not mended yet. The generator leaves out what they name, so that it goes on to find new
ones. Each entry has its reason; when the difference is mended, the entry goes."""

# Templates of functions.py whose calls are left out, types that are not stored or grouped, and other names.
TEMPLATES = {
    "numeric(8,2) NaN": "not built: NaN in numeric with a modifier",
}

# Ouzel's messages of errors that are counted, not reported: (pattern, reason).
MESSAGES = [
    ("accepted", "23505 duplicate key value", "unique keys are checked when all rows are written (docs/COMPATIBILITY.md)"),
    ("refused", "more than one row returned by a subquery used", "without the optimizer, subqueries whose column nobody reads are run"),
    ("state", "42710.*42703|42704.*23514", "the order of checks of definitions"),
]


def avoided(template):
    return template in TEMPLATES


def reason(difference):
    """Why a difference is known, or None."""
    import re
    return next((why for kind, pattern, why in MESSAGES if kind == difference.kind and re.search(pattern, difference.detail)), None)
