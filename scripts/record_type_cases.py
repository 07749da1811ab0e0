#!/usr/bin/env python3
"""Records what PostgreSQL 15 says about values, for tests/unit/common: one file of cases per family.

usage: record_type_cases.py [FAMILY...]   with PGHOST, PGPORT, PGUSER set to the server that is asked

A line of tests/unit/common/data/FAMILY.tsv is: operation, arguments, expected, separated by tabs; an expected error is
'!', SQLSTATE, blank, message. Backslash, tab and newline are escaped as in COPY.
"""
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "tests", "unit", "common", "data")

PROLOGUE = r"""
set client_min_messages = error;
set timezone = 'UTC';
create or replace function pg_temp.try(expr text) returns text as $$
declare r text;
begin
  execute 'select (' || expr || ')::text' into r;
  return coalesce(r, 'NULL');
exception when others then
  return '!' || sqlstate || ' ' || sqlerrm;
end $$ language plpgsql;
"""


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def ask(expressions, settings=""):
    """The answers of the server to a list of SQL expressions."""
    script = [PROLOGUE, settings, "create temp table answers(i int, a text);"]
    for i, e in enumerate(expressions):
        script.append(f"insert into answers select {i}, pg_temp.try({literal(e)});")
    script.append("copy (select a from answers order by i) to stdout;")
    run = subprocess.run(["psql", "-XAqt", "-v", "ON_ERROR_STOP=1"], input="\n".join(script), capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr[:2000])
    lines = run.stdout.split("\n")[:-1]
    assert len(lines) == len(expressions), (len(lines), len(expressions))
    return lines


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def write(family, cases, settings=""):
    """cases: (operation, arguments, SQL expression)"""
    answers = ask([c[2] for c in cases], settings)
    os.makedirs(DATA, exist_ok=True)
    with open(os.path.join(DATA, family + ".tsv"), "w", encoding="utf-8") as f:
        for (op, args, _), answer in zip(cases, answers):
            if len(answer) > 1500:
                continue
            f.write("\t".join([op] + [escape(a) for a in args] + [answer]) + "\n")
    print(f"{family}: {len(cases)} cases")


# ---- decimal ----

DECIMALS = ["0", "0.00", "1", "-1", "1.0", "2", "10", "0.1", "-0.5", "0.5", "1.5", "2.5", "-2.5", "0.05", "1.10", "99.99",
            "123.456", "-123.456", "9999", "10000", "0.0001", "0.00001", "12345678901234567890", "1e20", "1e-20",
            "0.000000000000000000000000001", "3.14159265358979323846264338327950288",
            "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999.99",
            "170141183460469231731687303715884105728", "-170141183460469231731687303715884105728", "1e100", "-7e-50",
            "123456789012345678901234567890123456789012345678901234567890.123456789", "NaN", "Infinity", "-Infinity"]


def random_decimal(rng):
    digits = rng.choice([1, 2, 4, 5, 9, 15, 18, 20, 30, 38, 45])
    scale = rng.choice([0, 0, 1, 2, 4, 6, 10, 20])
    text = str(rng.randrange(10 ** digits))
    if scale:
        text = text.rjust(scale + 1, "0")
        text = text[:-scale] + "." + text[-scale:]
    return ("-" if rng.random() < 0.4 else "") + text


def record_decimal():
    rng = random.Random(1)
    cases = []

    def num(a):
        return f"'{a}'::numeric"

    inputs = DECIMALS + ["", " ", "  12  ", "+5", ".5", "5.", ".", "-", "1e", "1e5", "1E+5", "1e-5", "12e-1", "0e50", "1.5e3",
                         "1.2.3", "1 2", "abc", "1x", "nan", " -inf ", "+infinity", "infinit", "-NaN", "0x10", "1_000",
                         "1e131071", "1e131072", "1e-16383", "1e-16384", "1e2000000000", "1e1000000000000", "0001.5",
                         "-0", "-0.00", "000000000000000000000000000000000000000000000000000001.10"]
    for a in inputs:
        cases.append(("parse", (a,), literal(a) + "::numeric"))
    binary = {"add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}", "modulo": "{} % {}",
              "div": "div({}, {})", "compare": "case when {0} < {1} then -1 when {0} > {1} then 1 else 0 end"}
    pairs = [(a, b) for a in DECIMALS for b in DECIMALS if rng.random() < 0.08]
    pairs += [(random_decimal(rng), random_decimal(rng)) for _ in range(100)]
    for a, b in pairs:
        for op, form in binary.items():
            cases.append((op, (a, b), form.format(num(a), num(b))))
        if abs(len(a)) < 30 and abs(len(b)) < 30:
            cases.append(("gcd", (a, b), f"gcd({num(a)}, {num(b)})"))
            cases.append(("lcm", (a, b), f"lcm({num(a)}, {num(b)})"))
    values = DECIMALS + [random_decimal(rng) for _ in range(40)]
    for a in values:
        for op in ["ceil", "floor", "abs", "sqrt", "exp", "ln", "trim_scale", "int2", "int4", "int8", "float8", "float4",
                   "numeric_send"]:
            if op == "exp" and a.startswith("9999999") or (op == "exp" and len(a) > 8 and "." not in a):
                continue
            cases.append((op, (a,), f"{op}({num(a)})"))
        cases.append(("negate", (a,), f"-{num(a)}"))
        for n in (-3, -1, 0, 1, 2, 5, 30):
            cases.append(("round", (a, str(n)), f"round({num(a)}, {n})"))
            cases.append(("trunc", (a, str(n)), f"trunc({num(a)}, {n})"))
        for p, s in ((3, 2), (5, 0), (2, 2), (15, 2), (38, 10), (3, -2), (2, 4)):
            cases.append(("typmod", (a, str(p), str(s)), f"{num(a)}::numeric({p},{s})"))
    powers = [("2", "0.5"), ("2.00", "3"), ("10.0", "-3"), ("3", "-2.000"), ("1.5", "200"), ("0.1", "500"), ("0", "0"),
              ("0", "2.5"), ("0", "-1"), ("-2", "3"), ("-2", "0.5"), ("-8.0", "-3"), ("2", "1.0"), ("7", "100"), ("1.0001", "10000"),
              ("0.99", "12345"), ("3.5", "2.5"), ("1e10", "20"), ("1e100", "1000"), ("1e-100", "1000"), ("12.34", "5.678"),
              ("0.001", "0.001"), ("9999.9999", "2"), ("NaN", "0"), ("1", "NaN"), ("2", "NaN"), ("Infinity", "-2"),
              ("-Infinity", "3"), ("-Infinity", "2"), ("0.5", "Infinity"), ("2", "-Infinity"), ("-1", "Infinity"),
              ("0", "-Infinity"), ("-2", "Infinity"), ("1.000000001", "1000000000"), ("2", "10000000000"), ("-1", "10000000001"),
              ("999999", "-0.3333"), ("1e-5", "-0.75"), ("1.23", "-45.6")]
    for a, b in powers:
        cases.append(("power", (a, b), f"power({num(a)}, {num(b)})"))
    logs = [("2", "8"), ("10", "100.0"), ("0.5", "3"), ("10", "0.001"), ("1", "5"), ("2", "0"), ("-2", "4"), ("3", "1e50"),
            ("1.000001", "2"), ("2", "1.0000001"), ("10", "12345.6789"), ("Infinity", "2"), ("2", "Infinity"), ("NaN", "1")]
    for a, b in logs:
        cases.append(("log", (a, b), f"log({num(a)}, {num(b)})"))
    for a in ["1.0000001", "0.9999", "1.05", "0.95", "1e-30", "100", "2.718281828", "1e1000", "0.000000001", "1.1", "0.9"]:
        cases.append(("ln", (a,), f"ln({num(a)})"))
        cases.append(("sqrt", (a,), f"sqrt({num(a)})"))
    for a in ["100.0", "-50.5", "-5000", "5999.999", "6000", "10000", "0.001", "-0.75", "12.3456789"]:
        cases.append(("exp", (a,), f"exp({num(a)})"))
    for n in (-1, 0, 1, 5, 20, 50, 100, 40000):
        cases.append(("factorial", (str(n),), f"factorial({n})"))
    buckets = [("5.35", "0.024", "10.06", "5"), ("-1", "0", "10", "4"), ("10", "0", "10", "4"), ("5", "10", "0", "4"),
               ("3", "5", "5", "2"), ("3", "1", "5", "0"), ("NaN", "1", "5", "2"), ("3", "NaN", "5", "2"),
               ("3", "1", "Infinity", "2"), ("Infinity", "1", "5", "2"), ("9.999999", "0", "10", "3"), ("0", "10", "0", "7")]
    for b in buckets:
        cases.append(("width_bucket", b, f"width_bucket({num(b[0])}, {num(b[1])}, {num(b[2])}, {b[3]})"))
    for f in ["0.1", "1e20", "123456789.123456789", "1e-10", "NaN", "-Infinity", "0.3", "1234567890123456789", "-2.5e-300"]:
        cases.append(("from_float8", (f,), f"'{f}'::float8::numeric"))
    for f in ["0.1", "1e20", "123456.789", "NaN", "Infinity", "16777217"]:
        cases.append(("from_float4", (f,), f"'{f}'::float4::numeric"))
    write("decimal", cases, "set extra_float_digits = 1;")


FAMILIES = {"decimal": record_decimal}


def main():
    for family in sys.argv[1:] or FAMILIES:
        FAMILIES[family]()


if __name__ == "__main__":
    main()
