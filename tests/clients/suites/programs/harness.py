"""What the programs share: their tests by name, and the line of JSON that each prints: its name and what it has seen, which suite.py
compares between servers."""
import json
import sys

TESTS = {}


def test(*variants):
    """A test, or one for each variant, which is the last argument."""
    def enter(function):
        if not variants:
            TESTS[function.__name__] = function
        for one in variants:
            TESTS[f"{function.__name__}_{one}"] = lambda *args, one=one: function(*args, one)
        return function
    return enter


def chosen():
    """The tests, or those whose name has the program's second argument in it."""
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    return [(name, function) for name, function in TESTS.items() if wanted in name]


def report(name, function, shown=str, wrongs=Exception):
    """Runs a test and prints its line. `shown` is what becomes of values that JSON does not have; `wrongs`: what is a failure. Returns whether it passed."""
    try:
        line = {"name": name, "value": json.loads(json.dumps(function(), default=shown))}
    except wrongs as wrong:
        line = {"name": name, "error": f"{type(wrong).__name__}: {wrong}"[:1500]}
    print(json.dumps(line), flush=True)
    return "value" in line
