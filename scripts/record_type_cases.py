#!/usr/bin/env python3
"""Records what PostgreSQL 15 says about values, for tests/unit/common: one file of cases per family.

usage: record_type_cases.py [FAMILY...]   with PGHOST, PGPORT, PGUSER set to the server that is asked

A line of tests/unit/data/FAMILY.tsv is: operation, arguments, expected, separated by tabs; an expected error is
'!', SQLSTATE, blank, message. Backslash, tab and newline are escaped as in COPY.
"""
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "tests", "unit", "data")

PROLOGUE = r"""
set client_min_messages = error;
set timezone = 'UTC';
create or replace function pg_temp.try(expr text, styles text[]) returns text as $$
declare r text;
begin
  perform set_config('datestyle', styles[1], false);
  perform set_config('intervalstyle', styles[2], false);
  perform set_config('timezone', styles[3], false);
  execute 'select (' || expr || ')::text' into r;
  return coalesce(r, 'NULL');
exception when others then
  return '!' || sqlstate || ' ' || sqlerrm;
end $$ language plpgsql;
"""


def literal(text):
    return "'" + text.replace("'", "''") + "'"


DEFAULT_STYLES = ("ISO, MDY", "postgres", "UTC")


def ask(cases, settings=""):
    """The answers of the server to a list of cases, whose last parts are the SQL expression and perhaps the styles."""
    script = [PROLOGUE, settings, "create temp table answers(i int, a text);"]
    for i, c in enumerate(cases):
        styles = ", ".join(literal(x) for x in (c[3] if len(c) > 3 else DEFAULT_STYLES))
        script.append(f"insert into answers select {i}, pg_temp.try({literal(c[2])}, array[{styles}]);")
    script.append("copy (select a from answers order by i) to stdout;")
    run = subprocess.run(["psql", "-XAqt", "-v", "ON_ERROR_STOP=1"], input="\n".join(script), capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr[:2000])
    lines = run.stdout.split("\n")[:-1]
    assert len(lines) == len(cases), (len(lines), len(cases))
    return lines


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def write(family, cases, settings=""):
    """cases: (operation, arguments, SQL expression[, styles])"""
    answers = ask(cases, settings)
    os.makedirs(DATA, exist_ok=True)
    with open(os.path.join(DATA, family + ".tsv"), "w", encoding="utf-8") as f:
        for (op, args, *_), answer in zip(cases, answers):
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


# ---- texts of every type: input, output, binary form ----

DATES = """2000-01-01|1999-12-31|1582-10-15|0001-01-01|4713-01-01 BC|0044-03-15 BC|5874897-12-31|5874898-01-01|4714-11-23 BC|
2001-02-29|2000-02-29|2000-13-01|2000-00-10|1/8/1999|1/18/1999|18/1/1999|01/02/03|1999-Jan-08|Jan-08-1999|08-Jan-1999|99-Jan-08|
08-Jan-99|Jan-08-99|19990108|990108|1999.008|J2451187|January 8, 99 BC|January 8, 1999|Jan 8 1999|8 January 1999|1999 Jan 8|infinity|-infinity|
epoch|tomorrowx|abc||99-08-Jan|1999 01 08|1999-1-8|12-25-2001|2001-12-25T00:00:00|Mon Jan 08 1999|1999-008|y1999m01d08|
2024-02-30|10000-01-01|99999999|20011332|1999-01-08 BC|1999-01-08 AD|0-1-1|00-1-1|1-1-0|70-1-1|69-12-31|1999/01/08|1999.01.08|08.01.1999|
Sept 9 2001|9th Sept 2001|2001-09-31|2000-1-1 foo|2000-01-01 12:00|J0|J-1|J2451187.5|1999-01-08 04:05:06 America/New_York"""

TIMESTAMPS = """2000-01-01 00:00:00|1999-01-08 04:05:06|1999-01-08 04:05:06.789|1999-01-08 04:05:06.7891234|1999-01-08 04:05:06 -8:00|
1999-01-08 04:05:06+02|1999-01-08T04:05:06Z|1999-01-08T04:05:06.5+05:30|1999-01-08 04:05:06 PST|1999-01-08 04:05:06 EST|January 8 04:05:06 1999 PST|
1999-01-08 04:05 AM|1999-01-08 04:05 PM|1999-01-08 12:05 AM|1999-01-08 13:05 PM|1999-01-08 24:00:00|1999-01-08 24:00:01|1999-01-08 25:00|
1999-01-08 23:59:60|1999-01-08 23:60|19990108 040506|19990108T040506|19990108T040506.789|19990108T040506-08|1999-01-08 040506|1999-01-08 0405|
1999-01-08 04:05:06 America/New_York|1999-07-08 04:05:06 America/New_York|1999-01-08 04:05:06 Nowhere/Land|1999-01-08 04:05:06 foo|epoch|infinity|-infinity|
294276-12-31 23:59:59.999999|294277-01-01|4713-01-01 00:00:00 BC|4714-11-24 00:00 BC|4714-11-23 BC|0001-01-01 00:00 BC|2001-02-29 10:00|
Wed Jul 17 22:14:08 2024 CEST|Jul 17 22:14 2024|2024-07-17 22:14:08.999999|2024-07-17 22:14:08.9999999|2024-07-17 22:14:08.|2024-07-17 22:14:08.1 BC|
17/07/2024 22:14|07/17/2024 22:14|2024-07-17 allballs|2024-07-17 22|2024-07-17 22:|2024-07-17 2:3:4|2024-07-17 022:03|2024-07-17 22:14:08+16|2024-07-17 22:14:08+15:59|
2024-07-17 22:14:08+15:59:59|2024-07-17 22:14:08+1559|2024-07-17 22:14:08-00:30|2024-07-17 22:14:08 UTC+3|2024-07-17 22:14:08 +3|  2024-07-17   22:14:08  |2024-07-17,22:14:08|
2024-07-17 22:14:08 MSK|2024-07-17 22:14:08 EST DST|2024-07-17 22:14:08 MET DST|2024-07-17 t 221408|J2451187 04:05:06|J2451187.25|2024.200 10:00|20240717 10:00:00.5 PM|
2024-07-17 10:00 PM|2024-07-17 00:30 PM|1997-02-10 17:32:01 PST8|19970210 173201 -0800|Feb 10 17:32:01 1997 -0800|Feb 10 17:32:01.5 1997 EDT|10-Feb-1997 17:32:01|
97FEB10 5:32:01PM UTC|97/02/10 17:32:01|1997.041 17:32:01 UTC|1997-06-10 18:32:01 PDT|2024-03-10 02:30 America/New_York|2024-11-03 01:30 America/New_York|12:30 2024-01-05|now x"""

TIMES = """00:00:00|04:05:06|04:05:06.789|04:05:06.7890123|04:05|040506|0405|040506.5|04:05 AM|04:05 PM|12:00 AM|12:00 PM|13:00 PM|24:00:00|24:00:01|23:59:60|
23:59:59.9999999|04:05:06-08:00|04:05:06+2|04:05-8:30|040506-08|04:05:06 PST|04:05:06 America/New_York|2003-04-12 04:05:06 America/New_York|2003-04-12 04:05:06|
allballs|abc||4|4:5|4:5:6|04:60|04:05:61|25:00|-04:05|04:05:06 foo|T040506|04:05:06Z|0:0:0.000001|t 04:05|infinity|20030412|04.5|100000.123|today"""

INTERVALS = """1 day|1 year 2 mons 3 days 04:05:06|-1 day|1 day ago|@ 1 minute|1:02:03|-1:02:03|1 02:03:04|1-2|-1-2|1-2 3 4:05:06|+1-2 -3 +4:05:06|P1Y2M3DT4H5M6S|
P0001-02-03T04:05:06|P1Y|PT1H|PT0.5S|P-1Y2M|P1W|P1.5Y|P0.5M|P00010203T040506|P|PT|P1|1.5 years|1.5 months|0.5 days|1.25 hours|1.5 weeks|0.0000001 seconds|1.9999999 seconds|
3 decades|2 centuries|1 millennium|1 c|1 mil|1 dec|5 ms|5 us|5 msec 3 usec|10|10.5|1 year 1 year|1 2|1 2:03|1 day 2:03:04.567|1 mon -1 day|-1 mon 1 day|-1 year -2 mons +3 days -04:05:06|
4 days 5|1 fortnight||abc|1 hour 90 minutes|90 minutes|100000 hours|2147483647 days|2147483648 days|178956970 years|178956971 years|9223372036854775807 us|9223372036854775808 us|
2562047788:00:54.775807|2562047789:00:00|1 quarter|1 day 1 hour ago|1.|.5 day|-.5 day|1y 2m 3d|1y2mon3d4h5m6s|6 mons 1.5 days|1 month 0.1 month|infinity|12:34.5678|1-13|1--2|1:2:3:4|1 day 25:61"""

SIMPLE = {
    "bool": "t|true|T|yes|y|on|1|f|false|no|n|off|of|0|o||  true |tr|truex|2|TRUE|oN",
    "int2": "0|-1|32767|32768|-32768|-32769| 12 |+5|1.0|abc||12a|0x10|- 1",
    "int4": "0|2147483647|2147483648|-2147483648|-2147483649|99999999999999999999|1e3|--1",
    "int8": "9223372036854775807|9223372036854775808|-9223372036854775808|-9223372036854775809|007| ",
    "oid": "0|4294967295|4294967296|-1|-2147483648|-2147483649|abc|",
    "float8": "0|-0|1|0.1|1e20|1e15|123456789012345|1234567890123456|1e-4|1e-5|0.0001234|NaN|nan|Infinity|inf|-inf|-Infinity|+inf|1e400|-1e400|1e-400|4.9e-324|1.7976931348623157e308|0x1p-3|1e|.5|5.|abc|| 1 |1 2|3.141592653589793238|1e22|1e23|9007199254740993|5e22",
    "float4": "0|0.1|1e10|16777217|123456|1234567|1e6|999999|0.0001|0.00001|3.4028235e38|3.5e38|1e-46|1e-45|NaN|-Infinity|abc",
    "uuid": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11|{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}|a0eebc999c0b4ef8bb6d6bb9bd380a11|a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11|{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111|a-0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff|x|",
    "bytea": "\\xDEADBEEF|\\xde ad|\\xd|\\xzz|abc|a\\\\b|\\001\\377|\\400|\\1|\\||\\x",
    "text": "abc|| x |äöü",
    "name": "abc|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaää",
    '"char"': "a||abc",
    "json": '{"a": 1}|[1, 2]',
    "xid8": "18446744073709551615|0",
    "int4[]": "{}|{1,2,3}|{1,NULL,3}|{{1,2},{3,4}}|{{1},{2,3}}|[0:1]={5,6}|[2:2][-1:0]={{5,6}}|{1,2|{1,,2}|{a}|1|{1}}|{ 1 , 2 }| {1} |{null}|{1 2}|[1:2]={1}|[2:1]={}|{{}}|{{1},2}|{1,{2}}|{99999999999}",
    "text[]": '{}|{a,b}|{"a b",c}|{"a\\"b"}|{a\\,b}|{NULL,"NULL"}|{""}|{"{}"}|{ a b , c }|{"a"b}|{a"b"}|{\\ }|{"x\ty"}|{{"a","b c"},{NULL,"d"}}',
    "numeric[]": "{1.50,NaN,-2}|{1e3}|{x}",
    "date[]": "{2000-01-01,infinity}",
    "bool[]": "{t,f,NULL}",
    "int2vector": "1 2 3||1 x",
    "oidvector": "10 20",
}

STYLES = [("ISO, MDY", "postgres", "UTC"), ("ISO, DMY", "postgres", "America/New_York"), ("ISO, YMD", "postgres", "Asia/Kolkata"),
          ("SQL, MDY", "sql_standard", "America/New_York"), ("SQL, DMY", "postgres_verbose", "Europe/Berlin"),
          ("Postgres, MDY", "iso_8601", "America/New_York"), ("Postgres, DMY", "postgres_verbose", "UTC"),
          ("German, DMY", "sql_standard", "Europe/Berlin")]


def split(text):
    return [x for x in text.replace("|\n", "|").split("|")]


def record_text():
    cases = []

    def add(type_name, text, styles):
        expr = f"{literal(text)}::{type_name}"
        if type_name == "bool":
            expr = f"boolout({expr})"
        cases.append(("text", (type_name, text) + styles, expr, styles))

    for type_name, texts in SIMPLE.items():
        for t in texts.split("|"):
            add(type_name, t, DEFAULT_STYLES)
    for styles in STYLES:
        for t in split(DATES):
            add("date", t, styles)
        for t in split(TIMESTAMPS):
            add("timestamp", t, styles)
            add("timestamptz", t, styles)
        if styles[0].startswith("ISO"):
            for t in split(TIMES):
                add("time", t, styles)
                if "today" not in t:
                    add("timetz", t, styles)
    seen = set()
    for styles in STYLES:
        if styles[1] not in seen:
            seen.add(styles[1])
            for t in split(INTERVALS):
                add("interval", t, styles)
    for t in ("2024-07-17 22:14:08.987654", "1999-12-31 23:59:59.5", "1969-12-31 23:59:59.4444446", "infinity"):
        for p in range(7):
            cases.append(("typmod", ("timestamp", str(p), t), f"{literal(t)}::timestamp({p})"))
            cases.append(("typmod", ("timestamptz", str(p), t), f"{literal(t)}::timestamptz({p})"))
    for t in ("23:59:59.987654", "12:00:00.5"):
        for p in range(7):
            cases.append(("typmod", ("time", str(p), t), f"{literal(t)}::time({p})"))
    fields = {"year": 4, "month": 2, "day": 8, "hour": 1024, "minute": 2048, "second": 4096, "year to month": 6,
              "day to hour": 1032, "day to minute": 3080, "day to second": 7176, "hour to minute": 3072, "hour to second": 7168,
              "minute to second": 6144}
    for t in ("1 year 2 months 3 days 04:05:06.789", "1", "1:2", "1 2:03", "-1.5", "3-4", "10.5", "1:2.5", "1:2:3.4567"):
        for f, mask in fields.items():
            cases.append(("typmod", ("interval", str(mask << 16 | 0xffff), t), f"{literal(t)}::interval {f}"))
        cases.append(("typmod", ("interval", str(0x7fff << 16 | 2), t), f"{literal(t)}::interval(2)"))
        cases.append(("typmod", ("interval", str(4096 << 16 | 1), t), f"{literal(t)}::interval second(1)"))
    for t in ("abc", "abcd", "abc  ", "abcde", "äöüß", "", "   ", "ab "):
        cases.append(("typmod", ("varchar", "7", t), f"varcharin({literal(t)}::cstring, 0, 7)"))
        cases.append(("typmod", ("bpchar", "7", t), f"format('%s', bpcharout(bpcharin({literal(t)}::cstring, 0, 7)))"))
    for t in ("1.5", "123.456", "99.995", "-99.994", "abc", "1e10", "Infinity", "0.001", "1000000000000000"):
        for p, s_ in ((4, 2), (5, 0), (15, 2), (20, 5), (38, 10), (40, 3), (2, 2), (3, -2)):
            typmod = ((p << 16) | (s_ & 0x7ff)) + 4
            cases.append(("typmod", ("numeric", str(typmod), t), f"{literal(t)}::numeric({p},{s_})"))
    cases += [("bytea_escape", (t,), f"encode({literal(t)}::bytea, 'escape')") for t in ("abc", "\\xdeadbeef00")]
    binary = [("bool", "t"), ("int2", "-5"), ("int4", "70000"), ("int8", "-1"), ("oid", "4294967295"), ("float4", "1.5"),
              ("float8", "-0.1"), ("numeric", "123456.789"), ("text", "abc"), ("bytea", "\\x0102"), ("date", "1999-01-08"),
              ("date", "infinity"), ("time", "04:05:06.789"), ("timestamp", "1999-01-08 04:05:06"), ("timestamptz", "1999-01-08 04:05:06+02"),
              ("timetz", "04:05:06+02"), ("interval", "1 year 2 days 3 seconds"), ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
              ("jsonb", '{"a": 1}'), ("json", "[1]"), ("int4[]", "{1,NULL,3}"), ("int4[]", "{}"), ("text[]", "[0:1]={a,bc}"),
              ("numeric[]", "{1.5}"), ("int2vector", "1 2"), ('"char"', "a"), ("name", "abc"), ("varchar", "xyz"), ("int8[]", "{{1},{2}}")]
    send = {"bool": "boolsend", "oid": "oidsend", '"char"': "charsend", "int4[]": "array_send", "text[]": "array_send", "numeric[]": "array_send",
            "int8[]": "array_send", "int2vector": "int2vectorsend", "bytea": "byteasend", "text": "textsend", "varchar": "varcharsend", "name": "namesend",
            "uuid": "uuid_send", "json": "json_send", "jsonb": "jsonb_send", "numeric": "numeric_send", "date": "date_send", "time": "time_send",
            "timestamp": "timestamp_send", "timestamptz": "timestamptz_send", "timetz": "timetz_send", "interval": "interval_send"}
    for t, v in binary:
        cases.append(("binary", (t, v), f"{send.get(t, t + 'send')}({literal(v)}::{t})"))
    write("text", cases, "set extra_float_digits = 1;")


# ---- arithmetic and fields of dates and times ----

STAMPS = ["2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2024-02-29 12:34:56.789012", "2023-03-31 10:00:00", "0001-01-01 00:00:00",
          "0044-03-15 12:00:00 BC", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59", "1970-01-01 00:00:00", "2024-03-10 02:30:00",
          "2024-11-03 01:30:00", "2010-01-03 05:00:00", "1901-02-28 00:00:01", "infinity", "-infinity", "2001-01-01", "1900-12-31", "2020-12-31"]
SPANS = ["0", "1 day", "1 month", "-1 month", "1 year 2 months 3 days 04:05:06.789", "-1 year -2 mons +3 days -04:05:06", "100 years", "25:00:00",
         "1 mon -30 days", "40 days 30:00:00", "-40 days -30:00:00", "1 mon 35 days -25:00:00", "0.000001 seconds", "15 mons 20 days 00:00:00.5",
         "178956970 years", "12 hours", "-1 day 23:00:00", "1.5 months"]
UNITS = ["microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century",
         "millennium", "julian", "isoyear", "isodow", "dow", "doy", "epoch", "timezone", "timezone_hour", "timezone_minute", "foo", "YEAR", "Mon",
         "us", "yrs"]


def record_date_math():
    cases = []
    ny = ("ISO, MDY", "postgres", "America/New_York")
    rng = random.Random(2)

    def add(op, args, expr, styles=DEFAULT_STYLES):
        cases.append((op, tuple(args) + (styles[2],), expr, styles))

    for a in STAMPS:
        for b in SPANS:
            add("timestamp_pl", (a, b), f"timestamp '{a}' + interval '{b}'")
            add("timestamptz_pl", (a, b), f"timestamptz '{a}' + interval '{b}'", ny)
            add("timestamp_mi", (a, b), f"timestamp '{a}' - interval '{b}'")
            add("time_pl", (a, b), f"(timestamp '{a}')::time + interval '{b}'")
        for b in STAMPS:
            if rng.random() < 0.5:
                add("subtract", (a, b), f"timestamp '{a}' - timestamp '{b}'")
                if "infinity" not in a + b:
                    add("age", (a, b), f"age(timestamp '{a}', timestamp '{b}')")
        for u in UNITS:
            if rng.random() < 0.5:
                continue
            add("extract_timestamp", (u, a), f"extract('{u}' from timestamp '{a}')")
            add("extract_timestamptz", (u, a), f"extract('{u}' from timestamptz '{a}')", ny)
            add("part_timestamp", (u, a), f"date_part('{u}', timestamp '{a}')")
            add("part_timestamptz", (u, a), f"date_part('{u}', timestamptz '{a}')", ny)
            add("extract_date", (u, a), f"extract('{u}' from (timestamp '{a}')::date)")
            add("trunc_timestamp", (u, a), f"date_trunc('{u}', timestamp '{a}')")
            add("trunc_timestamptz", (u, a), f"date_trunc('{u}', timestamptz '{a}')", ny)
    for a in SPANS:
        for u in UNITS:
            if rng.random() < 0.5:
                continue
            add("extract_interval", (u, a), f"extract('{u}' from interval '{a}')")
            add("part_interval", (u, a), f"date_part('{u}', interval '{a}')")
            add("trunc_interval", (u, a), f"date_trunc('{u}', interval '{a}')")
        for b in SPANS:
            if rng.random() < 0.6:
                continue
            add("interval_pl", (a, b), f"interval '{a}' + interval '{b}'")
            add("interval_mi", (a, b), f"interval '{a}' - interval '{b}'")
            add("interval_cmp", (a, b), f"interval_cmp(interval '{a}', interval '{b}')")
        for f in ("2", "0.5", "-1.5", "0.1", "3.7", "1e10", "0", "NaN", "0.333333"):
            add("interval_mul", (a, f), f"interval '{a}' * float8 '{f}'")
            add("interval_div", (a, f), f"interval '{a}' / float8 '{f}'")
        for op in ("justify_hours", "justify_days", "justify_interval"):
            add(op, (a,), f"{op}(interval '{a}')")
        add("interval_um", (a,), f"- interval '{a}'")
    for t in ("00:00:00", "12:34:56.789012", "24:00:00"):
        for u in UNITS:
            add("extract_time", (u, t), f"extract('{u}' from time '{t}')")
            add("part_time", (u, t), f"date_part('{u}', time '{t}')")
    for y, m, d in ((2000, 1, 1), (2000, 13, 1), (2001, 2, 29), (-44, 3, 15), (0, 1, 1), (5874897, 12, 31), (5874898, 1, 1), (2000, -1, 5), (-4714, 1, 1)):
        add("make_date", (str(y), str(m), str(d)), f"make_date({y}, {m}, {d})")
    for h, m, s in ((0, 0, "0"), (24, 0, "0"), (24, 0, "0.1"), (23, 59, "59.9999999"), (10, 60, "0"), (-1, 0, "0"), (1, 1, "60"), (1, 1, "60.5"), (1, 2, "3.4567899"), (1, 1, "NaN")):
        add("make_time", (str(h), str(m), s), f"make_time({h}, {m}, float8 '{s}')")
    for s in ("0", "1.5", "-1.5", "1e10", "1e20", "Infinity", "-Infinity", "NaN", "1234567890.123456"):
        add("to_timestamp", (s,), f"to_timestamp(float8 '{s}')")
    for stride in ("15 minutes", "1 day", "1 month", "0", "-1 day", "7 days 00:00:01"):
        for a in ("2020-02-11 15:44:17.71323", "1999-12-31 23:59:59", "infinity"):
            add("date_bin", (stride, a, "2001-01-01 00:00:00"), f"date_bin(interval '{stride}', timestamp '{a}', timestamp '2001-01-01')")
    for z in ("America/New_York", "EST", "EDT", "UTC", "+03", "-5:30", "PST8PDT", "foo", "europe/berlin", "MSK"):
        for a in ("2024-07-01 12:00:00", "2024-03-10 02:30:00", "2024-11-03 01:30:00", "infinity"):
            add("zone_local", (z, a), f"timestamptz '{a}' at time zone '{z}'")
            add("zone_instant", (z, a), f"timestamp '{a}' at time zone '{z}'")
    write("date_math", cases, "set extra_float_digits = 1;")


# ---- to_char, to_date, to_timestamp, to_number ----

DATE_PATTERNS = """YYYY-MM-DD HH24:MI:SS.US|DD Mon YYYY HH12:MI AM|Day, DD Month YYYY|FMDay, FMDDth FMMonth YYYY|DAY Day day DY Dy dy|MONTH Month month MON Mon mon|
HH HH12 HH24 MI SS MS US FF1 FF2 FF3 FF4 FF5 FF6 SSSS SSSSS|Y,YYY YYYY YYY YY Y|IYYY IYY IY I IW ID IDDD|CC Q WW W D DDD J|RM rm FMRM|AM PM am pm A.M. P.M. a.m. p.m.|
AD BC ad bc A.D. B.C. a.d. b.c.|TZ tz TZH TZM OF TZH:TZM|"quoted \\" text" YYYY|YYYYth MMTH DDth|FMHH24:FMMI:FMSS FMDDD FMWW FMIW|yyyy-mm-dd hh24:mi:ss|Hh24 Yyyy|
TMMonth TMDay TMMON|xyz YYYY \\ abc|FMYYYY-FMMM-FMDD|MM/DD/YY|FMMS FMUS FMFF3|FX YYYY|YYYYSP DDspth|Q"th quarter"|HH24"h"MI"m"|üYYYYö"""
INTERVAL_PATTERNS = """HH24:MI:SS|DD HH24|YYYY MM DD|HH12 AM|MS US SSSS|CC Y,YYY YYY YY Y|DDD WW W Q RM|FMHH24:FMMI|TZ|Day|Mon|AD|D|HH"""
PARSE_CASES = [("2000-12-31", "YYYY-MM-DD"), ("20001231", "YYYYMMDD"), ("31 Dec 2000", "DD Mon YYYY"), ("05 december 2000", "DD Month YYYY"),
    ("2000-12-31 23:59:58.123456", "YYYY-MM-DD HH24:MI:SS.US"), ("11:30 PM", "HH12:MI AM"), ("13:30 PM", "HH12:MI AM"), ("12 am", "HH am"),
    ("2000-366", "YYYY-DDD"), ("2001-366", "YYYY-DDD"), ("366", "DDD"), ("2000-W01-1", "IYYY-\"W\"IW-ID"), ("200401", "IYYYIW"), ("2005-01", "IYYY-MM"),
    ("2000 05", "YYYY  MM"), ("2000/05/06", "YYYY-MM-DD"), ("2000  05", "YYYY-MM"), ("2000-5-6", "YYYY-MM-DD"), ("200056", "YYYYMMDD"), ("99", "YY"),
    ("70", "YY"), ("69", "YY"), ("995", "YYY"), ("5", "Y"), ("1,999", "Y,YYY"), ("19 99", "CC YY"), ("20", "CC"), ("6 bc", "YYYY bc"), ("44-03-15 BC", "YYYY-MM-DD BC"),
    ("2451545", "J"), ("2000-02-30", "YYYY-MM-DD"), ("2000-13-01", "YYYY-MM-DD"), ("abc", "YYYY"), ("2000-xx", "YYYY-MM"), ("20", "YYYYMM"), ("2000foo", "YYYYMon"),
    ("  2000  12 ", "YYYYMM"), ("2000-12-31", "FXYYYY-MM-DD"), ("2000 -12-31", "FXYYYY-MM-DD"), ("2000-1-2", "FXYYYY-MM-DD"), ("86399", "SSSS"), ("86400", "SSSSS"),
    ("12:34:56.5", "HH24:MI:SS.MS"), ("12:34:56.05", "HH24:MI:SS.MS"), ("12:34:56.789012", "HH24:MI:SS.FF6"), ("12:34:56.789", "HH24:MI:SS.FF2"), ("2000-01-01 +05", "YYYY-MM-DD TZH"),
    ("2000-01-01 -05:30", "YYYY-MM-DD TZH:TZM"), ("2000-01-01-05", "YYYY-MM-DDTZH"), ("2000-01-01 +16", "YYYY-MM-DD TZH"), ("2000-01-01 UTC", "YYYY-MM-DD TZ"), ("VII 2000", "RM YYYY"), ("xii 2000", "rm YYYY"),
    ("monday 2000", "day YYYY"), ("2000 3", "YYYY Q"), ("2000-07-01 2000-08-01", "YYYY-MM-DD YYYY-MM-DD"), ("1st Jan 2000", "DDth Mon YYYY"), ("2000 12 03", "YYYY WW W"), ("2000-11 2", "YYYY-MM W"),
    ("", "YYYY"), ("2000", ""), ("2147483648", "YYYY"), ("99999-01-01", "YYYYY-MM-DD"), ("20000-01-01", "YYYY-MM-DD"), ("20000101", "FMYYYYMMDD"), ("25:00", "HH24:MI"), ("10:61", "HH24:MI"),
    ("2000\tJune", "YYYY Month"), ("January2000", "MonthYYYY"), ("2000-06-15 text 10", "YYYY-MM-DD \"text\" HH24"), ("2000.06.15", "YYYYMMDD"), ("-44-02-01", "YYYY-MM-DD"), ("0-1-1", "YYYY-MM-DD"), ("1997 BC 11 16", "YYYY BC MM DD"),
    ("2011-12-18 11:38 PM", "YYYY-MM-DD HH12:MI PM"), ("2011-12-18 11:38 20", "YYYY-MM-DD HH12:MI TZM"), ("15 \"text between quote marks\" 98 54 45", "HH24 \\\"text between quote marks\\\" YY MI SS"), ("1985 January 12", "YYYY FMMonth DD")]
NUMBER_PATTERNS = """9|99|999|9999.99|0|000|0000.00|9,999|9G999G999D99|999.999|FM999.999|FM999.990|FM990.00|FM9,999.99|S999|999S|S999.99|999.99S|MI999|999MI|PL999|999PL|SG999|999SG|999PR|FM999PR|9.9|FM9.9|
FM9.|0.9|90.99|B9999|L999|FML999|RN|FMRN|rn|999th|999TH|FM999th|99V99|9.99EEEE|9EEEE|"Good number:"999|99 99|9 9 9|\\"9|999999999999999999|FM0|09|FM09.90|,999|FM,999|C99|9.99999999999999999999|
99999|009999.99900|S|MI9.9|9.9MI|PR9|99.99.9|9S9S|SMI9|EEEE9|S9EEEE|9V9.9|9.9V9|.99|FM.99|9D|0D0|$999|999%|999,999,999|FM999,999,999.00"""
NUMBERS = ["0", "1", "-1", "12", "-12", "123.456", "-123.456", "0.1", "-0.1", "0.05", "1234567.891", "999.995", "1e10", "-0.001", "485", "3999", "4000", "1004", "0.5", "1.5", "100"]
TO_NUMBERS = [("-34,338,492", "99G999G999"), ("-34,338,492.654,878", "99G999G999D999G999"), ("<564646.654564>", "999999.999999PR"), ("0.00001-", "9.999999S"), ("5.01-", "FM9.999999S"), ("5.01-", "FM9.999999MI"), ("5 4 4 4 4 8 . 7 8", "9 9 9 9 9 9 . 9 9"),
    (".01", "FM9.99"), (".0", "99999999.99999999"), ("0", "99.99"), (".-01", "S99.99"), (".01-", "99.99S"), (" . 0 1-", " 9 9 . 9 9 S"), ("34,50", "999,99"), ("123,000", "999G"), ("123456", "999G999"), ("$1234.56", "L9,999.99"), ("$1234.56", "L99,999.99"), ("$1,234.56", "L99,999.99"),
    ("1234.56", "L99,999.99"), ("1,234.56", "L99,999.99"), ("42nd", "99th"), ("", "99"), ("abc", "99"), ("12.454.8-", "99D9S"), ("1234", "99"), ("-12", "S99"), ("+12", "S99"), ("12-", "99MI"), ("1.23", "9V99"), ("12", "99V99"), ("1e5", "9EEEE"), ("XII", "RN"), ("  12", "9999"), ("-0.5", "9.9"), ("<5>", "9PR")]


def record_formatting():
    cases = []
    ny = ("ISO, MDY", "postgres", "America/New_York")
    stamps = ["2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2024-02-29 12:34:56.789012", "0044-03-15 13:05:09 BC", "0001-01-01 12:00:00", "12345-06-07 08:09:10.1",
              "2024-07-04 00:30:00.05", "2021-01-03 11:59:59", "2011-11-11 11:11:11"]
    for p in split(DATE_PATTERNS):
        for t in stamps:
            cases.append(("timestamp_to_char", (t, p, "UTC"), f"to_char(timestamp '{t}', {literal(p)})"))
        for t in stamps[2:8:2]:
            cases.append(("timestamptz_to_char", (t, p, ny[2]), f"to_char(timestamptz '{t}', {literal(p)})", ny))
    for p in split(INTERVAL_PATTERNS):
        for t in ("1 year 2 mons 3 days 04:05:06.789", "-1 year -2 mons -3 days -04:05:06.789", "0", "100:00:00", "-1 mon", "25 years", "12 mons", "-1 year"):
            cases.append(("interval_to_char", (t, p, "UTC"), f"to_char(interval '{t}', {literal(p)})"))
    for text, p in PARSE_CASES:
        cases.append(("to_date", (text, p, "UTC"), f"to_date({literal(text)}, {literal(p)})"))
        cases.append(("to_timestamp", (text, p, ny[2]), f"to_timestamp({literal(text)}, {literal(p)})", ny))
    for p in split(NUMBER_PATTERNS):
        for n in NUMBERS + ["NaN", "Infinity", "-Infinity"]:
            cases.append(("numeric_to_char", (n, p, "UTC"), f"to_char(numeric '{n}', {literal(p)})"))
            if len(cases) % 3 == 0:
                cases.append(("float8_to_char", (n, p, "UTC"), f"to_char(float8 '{n}', {literal(p)})"))
            if len(cases) % 5 == 0:
                cases.append(("float4_to_char", (n, p, "UTC"), f"to_char(float4 '{n}', {literal(p)})"))
        for n in (0, 1, -1, 12, -485, 3999, 123456789, 22, 113, 1001):
            cases.append(("int8_to_char", (str(n), p, "UTC"), f"to_char(int8 '{n}', {literal(p)})"))
    for text, p in TO_NUMBERS:
        cases.append(("to_number", (text, p, "UTC"), f"to_number({literal(text)}, {literal(p)})"))
    write("formatting", cases)


# ---- jsonpath ----

JSONPATHS = r"""a.b
a b
a
$.a/*c*/.b
$.a /*c*/.b
1a
1ab
00
012
1e5
1e5a
1.5a
1.5ab
1.type()
1..type()
$.1
$.1a
$.12ab
$1
1e+
1e
1.e
1.e3
.5
5.
0x1f
1_000
"a\u00"
"a\u{41}"
"a\u{}"
"a\u{1234567}"
"a\u{110000}"
"a\x4"
"a\x41"
"a\
"abc
$.a\u0041
$.\u0041b
"\ud83d\ude00"
"\ud83d"
"\ude00"
"\ud83dx"
"\ud83d\ud83d"
"\u0000"
"\v\b\f\n\r\t\q\/\""
/* abc
$ /* x
$ $
$.a &&  $.b
$.a == 1 && $.b
($.a == 1) + 2
1 + ($.a == 1)
!($.a == 1).type()
!$.a
!($.a)
!exists($.a)
! exists ($.a) && $.b == 1
$.a == 1 == 2
($.a == 1) is unknown
(($.a == 1) is unknown).type()
($.a == 1).type()
-1
+1
--1
-$.a
- 1.5
+$.a.b + 1
-$.a * 2
(1).type()
(-1).type()
-1.type()
-(1).type()
1 + 2 * 3
(1 + 2) * 3
1 - (2 - 3)
1 - 2 - 3
1 - (2 * 3)
$.a[1,2 to last, last - 1]
$[*].**.**{2}.**{2 to 3}.**{last}.**{1 to last}.**{last to 3}
$.**{-1}
$.**{99999999999}
last
$[last]
@
$ ? (@ == 1)
$ ? (@.a ? (@.b == 1) == 2)
$.a like_regex "ab"
$ ? (@ like_regex "ab" flag "xi")
$ ? (@ like_regex "ab" flag "qi")
$ ? (@ like_regex "ab" flag "imsq")
$ ? (@ like_regex "ab" flag "xq")
$ ? (@ like_regex "ab" flag "z")
$ ? (@ like_regex "(ab" flag "i")
$ ? (@ like_regex "(ab" flag "q")
$ ? (@ starts with "a")
$ ? (@ starts with $x)
$ ? (@ starts with 1)
strict $.a
lax $.a
STRICT $.a
strict
strict lax $
$.a.datetime()
$.a.datetime("yyyy")
$.a.datetime($x)
$.size
$.size()
$.Size()
$.NULL
NULL
null
True
true
$.a.TYPE()
$.type().keyvalue().abs().floor().ceiling().double()
$"a b"
$a.b
$"a\u0041"
$.$a
$.*
$.a.*
$ .a
$."a\"b\\c\u0001é"

   
$.a,
$#
$.a ? @ == 1
1e1000000
100000000000000000000000.5000
exists($)
exists($.a ? (@ > 1))
exists($ == 1)
$.a ?(@ > 1 && (@ < 2 || @ == 5) && !(@ == 3))
$.a ?(@ > 1 || @ < 2 && @ == 5)
(($ == 1) || ($ == 2)) && ($ == 3)
$ == 1 && ($ == 2 && $ == 3)
$ == -1
$ == - $.a
($ + 1).a
($.a[1] + 1)[0]
"a".type()
true.type()
null.type()
$x.type()
$.a.b.c
$."a".'b'
$.a'b
a\b
\
$.\
$.a > 1 + 2
1 + 2 > $.a
"a" starts with "b"
$ == $
$ = 1
$ <> 1
$ != 1
$.true
$.is.unknown.to.last
$.[1]
$[1
$[]
$[1,]
$[1 to]
$.a.b(
$.abs(1)
$.foo()
""".strip("\n").split("\n") + ['"a\\\n"', "$.a\t.b", " strict\n$.a ", "$.ä.\u00dc", '$ like_regex "a" flag "ä"']

JSONPATH_WORDS = r"""$ $ $ @ @ . . . ( ) ( ) [ ] ? ? * ** { } , + - / % && || ! == != <> < <= > >= .a ."b c" $x $"y" "s" 1 2.5 .5 null
true false last to is unknown exists starts with like_regex flag "i" strict lax .type() .size .keyvalue() .datetime( abs a 1a
\u0041 \ " /*c*/ [1] [*] [last] ?(@>1) ?( (@ (1)""".split()


def random_jsonpath_text(rng):
    """Words in any order, and texts of the list above with some words changed: mostly errors."""
    if rng.random() < 0.5:
        words = rng.choice(JSONPATHS).split(" ")
        for _ in range(rng.choice([1, 1, 2])):
            words.insert(rng.randrange(len(words) + 1), rng.choice(JSONPATH_WORDS))
        if rng.random() < 0.3:
            del words[rng.randrange(len(words))]
    else:
        words = [rng.choice(JSONPATH_WORDS) for _ in range(rng.randrange(1, 9))]
    return rng.choice(["", " "]).join(words)


def random_jsonpath(rng, depth=3):
    """A path that is well formed."""
    def expr(d, in_filter, in_subscript):
        r = rng.random()
        if d > 0 and r < 0.12:
            return f"{operand(d, in_filter, in_subscript)} {rng.choice('+-*/%')} {operand(d, in_filter, in_subscript)}"
        if d > 0 and r < 0.18:
            return f"{rng.choice('+-')}{operand(d, in_filter, in_subscript)}"
        return chain(d, in_filter, in_subscript)

    def operand(d, in_filter, in_subscript):
        text = expr(d - 1, in_filter, in_subscript)
        return f"({text})" if rng.random() < 0.3 else text

    def chain(d, in_filter, in_subscript):
        heads = ["$", "$", "$"] + ["@"] * (6 if in_filter else 0) + ["last"] * (4 if in_subscript else 0)
        if rng.random() < 0.35:
            heads = ["1", "2", "0", "-1", "1.5", '"a"', '"abc"', "null", "true", "false", "$x", "$y", "$o"]
        head = rng.choice(heads) if rng.random() < 0.99 else "$missing"
        if d > 0 and rng.random() < 0.06:
            head = f"({predicate(d - 1, in_filter, in_subscript)})" + accessor(d - 1, in_filter, in_subscript)
        elif head[0] in "-.0123456789":
            head = f"({head})"
        count = rng.choice([0, 1, 1, 1, 2, 2, 3]) if head[0] in "$@(" else rng.choice([0, 0, 0, 1])
        return head + "".join(accessor(d - 1, in_filter, in_subscript) for _ in range(count))

    def accessor(d, in_filter, in_subscript):
        r = rng.random()
        if r < 0.35:
            return rng.choice([".a", ".a", ".b", ".c", '."d e"', ".key", ".value"])
        if r < 0.42:
            return ".*"
        if r < 0.55:
            return "[*]"
        if r < 0.68:
            return "[" + ",".join(subscript(d, in_filter) for _ in range(rng.choice([1, 1, 1, 2]))) + "]"
        if r < 0.75:
            return rng.choice([".**", ".**{1}", ".**{2}", ".**{1 to 2}", ".**{last}", ".**{0}", ".**{1 to last}", ".**{last to 2}"])
        if r < 0.87 and d > 0:
            return f" ? ({predicate(d - 1, True, in_subscript)})"
        return rng.choice([".type()", ".size()", ".abs()", ".floor()", ".ceiling()", ".double()", ".keyvalue()", ".size()",
                           ".type()", ".keyvalue()", ".datetime()"])

    def subscript(d, in_filter):
        def one():
            return rng.choice(["0", "1", "2", "last", "last - 1", "-1", "1.7", "5"]) if d <= 0 or rng.random() < 0.8 else expr(d - 1, in_filter, True)
        return f"{one()} to {one()}" if rng.random() < 0.3 else one()

    def predicate(d, in_filter, in_subscript):
        r = rng.random()
        if d > 0 and r < 0.25:
            return f"{predicate(d - 1, in_filter, in_subscript)} {rng.choice(['&&', '||'])} {predicate(d - 1, in_filter, in_subscript)}"
        if d > 0 and r < 0.32:
            return f"!({predicate(d - 1, in_filter, in_subscript)})"
        if d > 0 and r < 0.38:
            return f"({predicate(d - 1, in_filter, in_subscript)}) is unknown"
        if r < 0.48:
            return f"exists({expr(d, in_filter, in_subscript)})"
        if r < 0.54:
            return f"{expr(d, in_filter, in_subscript)} starts with {rng.choice(['$x', '$y', chr(34) + 'a' + chr(34)])}"
        if r < 0.60:
            flag = rng.choice(["", "", ' flag "i"', ' flag "q"', ' flag "ms"'])
            return f'{expr(d, in_filter, in_subscript)} like_regex "{rng.choice(["^a", "b", "A.c", "a|b", "[0-9]+$"])}"{flag}'
        return f"{expr(d, in_filter, in_subscript)} {rng.choice(['==', '!=', '<', '<=', '>', '>='])} {expr(d, in_filter, in_subscript)}"

    mode = rng.choice(["", "", "strict "])
    return mode + (predicate(depth, False, False) if rng.random() < 0.3 else expr(depth, False, False))


def random_document(rng, depth=3):
    r = rng.random()
    if depth == 0 or r < 0.35:
        return rng.choice(["1", "2", "0", "-3", "1.5", "2.50", "null", "true", "false", '"a"', '"abc"', '"b"', '""', '"12"',
                           '"2024-02-29"', '"12:34:56"', '"2024-02-29 12:34:56+01"', "[]", "{}", "123456789012345.678"])
    if r < 0.65:
        return "[" + ", ".join(random_document(rng, depth - 1) for _ in range(rng.randrange(5))) + "]"
    keys = rng.sample(["a", "b", "c", "d e", "key", "value"], rng.randrange(1, 5))
    return "{" + ", ".join(f'"{k}": {random_document(rng, depth - 1)}' for k in keys) + "}"


MOMENTS = ["2024-02-29", "2024-03-10", "1999-12-31", "12:34:56", "12:34:56.789", "02:30:00", "12:34:56+03", "12:34:56-04:30", "17:04:56+00",
           "2024-02-29 00:00:00", "2024-03-10T02:30:00", "2024-03-10 07:30:00+00", "2024-03-10T06:30:00.5+00:00", "2024-02-29 05:00:00+00",
           "2024-02-28T23:00:00-05:00", "0044-03-15", "-0044-03-15T12:00:00", "5000000-01-01", "2024-02-30", "25:00:00", "noon"]
MOMENT_TEMPLATES = [("29.02.2024", "dd.mm.yyyy"), ("2024-02-29", "dd.mm.yyyy"), ("12:34", "HH24:MI"), ("12:34 +05", "HH24:MI TZH"),
                    ("12:34 pm", "HH12:MI pm"), ("2024-060", "yyyy-ddd"), ("29 2024", "dd yyyy"), ("1.5", "SS.MS"), ("1.123456", "SS.FF3"),
                    ("2024-02-29T12:34:56", 'yyyy-mm-dd"T"HH24:MI:SS'), ("2024-02-29", "yyyy-mm-dd HH24"), ("2024-02-29 x", "yyyy-mm-dd"),
                    ("10", "IW"), ("+05", "TZH"), ("2024 +05", "yyyy TZH"), ("2024", "yyyy#"), ("2024", "FMyyyy"), ("", "yyyy"), ("2024", ""),
                    ("300000-01-01 00:00", "yyyy-mm-dd HH24:MI"), ("6000000-01-01", "yyyy-mm-dd"), ("2024-13-01", "yyyy-mm-dd"),
                    ("12:34 -5:20", "HH24:MI TZH:TZM"), ("2024-02-29 12:34 -5", "yyyy-mm-dd HH24:MI TZH"), ("2024", "yyyy tz")]


def random_number(rng):
    """Of many sizes in PostgreSQL's binary form."""
    return rng.choice(["0", "0.00", "1e-70", "1e300", "1" + "0" * rng.randrange(30), f"{rng.randrange(10 ** 9)}.{rng.randrange(10 ** 6)}",
                       str(rng.randrange(10 ** rng.randrange(1, 40))), "-1.10", "0.0001", "10000", "99999999", "1.0E100", "3e-64"])


def random_large_document(rng, depth):
    """A document for the numbers of keyvalue()."""
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(["null", "true", '"' + "x" * rng.randrange(9) + '"', random_number(rng), "[]", "{}"])
    if rng.random() < 0.4:
        return "[" + ", ".join(random_large_document(rng, depth - 1) for _ in range(rng.randrange(6))) + "]"
    return "{" + ", ".join(f'"{"k" * rng.randrange(5)}{i}": {random_large_document(rng, depth - 1)}' for i in range(rng.randrange(1, 6))) + "}"


def record_jsonpath():
    """How paths are read and printed, and what they find."""
    rng = random.Random(int(os.environ.get("SEED", "1")))
    scale = int(os.environ.get("SCALE", "1"))
    texts = JSONPATHS + [random_jsonpath_text(rng) for _ in range(600 * scale)] + [random_jsonpath(rng) for _ in range(150 * scale)]
    cases = [("parse", (t,), literal(t) + "::jsonpath") for t in texts]
    variables = '{"x": "a", "y": 2, "o": {"a": {"b": 1}}}'

    def add(function, document, path, silent="false", zone=""):
        """`zone`: the session's, for the functions that take it into account."""
        call = f"jsonb_path_{function}{'_tz' if zone else ''}"
        cases.append((function, (document, path, variables, silent, zone), f"{call}({literal(document)}, {literal(path)}, {literal(variables)}, {silent})",
                      ("ISO, MDY", "postgres", zone or "UTC")))

    for _ in range(1500 * scale):
        function = rng.choice(["query_array", "query_array", "query_array", "exists", "match", "query_first"])
        add(function, random_document(rng, rng.choice([2, 3, 4])), random_jsonpath(rng, rng.choice([1, 2, 3])), rng.choice(["false", "false", "true"]))
    for _ in range(150 * scale):
        add("query_array", random_large_document(rng, 4), rng.choice(["$.**.keyvalue().id", "$.**.keyvalue().value.keyvalue().id", "$.*.keyvalue()",
                                                                      "$o.**.keyvalue().id", "$[*].keyvalue().keyvalue()"]), "true")
    for text in MOMENTS:
        add("query_array", f'["{text}"]', "$.datetime().type()")
        add("query_array", f'["{text}"]', "$.datetime()", rng.choice(["false", "true"]))
    for text, template in MOMENT_TEMPLATES:
        quoted = template.replace('"', '\\"')
        add("query_array", f'"{text}"', f'$.datetime("{quoted}")')
        add("query_array", f'"{text}"', f'$.datetime("{quoted}")', "true")
        add("query_array", f'"{text}"', f'$.datetime("{quoted}").type()', "true")
    for _ in range(250 * scale):
        pair, op = [rng.choice(MOMENTS) for _ in range(2)], rng.choice(["==", "!=", "<", "<=", ">", ">="])
        zones = ["", "", "UTC", "Asia/Kolkata"]
        if all(p[2] != ":" for p in pair):  # the offset of a time of the day is that of the day of the recording
            zones.append("America/New_York")
        add("match", f'["{pair[0]}", "{pair[1]}"]', f"$[0].datetime() {op} $[1].datetime()", rng.choice(["false", "true"]), rng.choice(zones))
    write("jsonpath", cases)


FAMILIES = {"decimal": record_decimal, "text": record_text, "date_math": record_date_math, "formatting": record_formatting,
            "jsonpath": record_jsonpath}


def main():
    for family in sys.argv[1:] or FAMILIES:
        FAMILIES[family]()


if __name__ == "__main__":
    main()
