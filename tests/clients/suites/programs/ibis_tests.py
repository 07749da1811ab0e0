"""What users of Ibis do with its PostgreSQL backend: connections, catalogs and schemas, tables made from frames and expressions, and
expressions of every kind, whose values are known here. Prints for each test a line of JSON: its name and what it has seen, which
suite.py compares between servers."""
import datetime as dt
import decimal
import json
import math
import sys
import uuid

import ibis
import ibis.expr.operations as ops
import numpy
import pandas
import polars
import psycopg
import pyarrow
from harness import TESTS, chosen, report, test
from ibis import _

uri = sys.argv[1]
D = decimal.Decimal
con = None


def plain(value):
    """As it is printed; the last digits of a float depend on the order in which a server adds. Pandas knows no NULL in some columns."""
    if isinstance(value, (float, numpy.floating)):
        return None if math.isnan(value) else f"{value:.12g}"
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, (list, numpy.ndarray)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, pandas.Timestamp) and value.tzinfo is None and value == value.normalize():
        value = value.date()  # the type of the column tells dates from timestamps
    return value if isinstance(value, (int, str, type(None))) else None if value is pandas.NaT or value is pandas.NA else str(value)


def shown(expr):
    """Of a table: its names and types and its rows, which are sorted here if not by the server."""
    found = con.execute(expr.as_table())
    rows = [[plain(value) for value in row] for row in found.itertuples(index=False, name=None)]
    if not isinstance(expr.op(), (ops.Sort, ops.Limit)):
        rows.sort(key=repr)
    return [[[name, str(kind)] for name, kind in expr.as_table().schema().items()], rows]


def failure(action):
    """What an action's error says."""
    try:
        found = action()
    except psycopg.Error as error:
        return [type(error).__name__, error.sqlstate, error.diag.message_primary]
    except Exception as error:  # noqa: BLE001: any failure is one
        return [type(error).__name__, str(error)]
    return ["no error", str(found)]


def scalar(name, build, wanted):
    """A value that is known: of an expression over constants."""
    def run():
        expr = build()
        found = con.execute(expr)
        if plain(found) != plain(wanted):
            raise AssertionError(f"{found!r} instead of {wanted!r}")
        return [str(expr.type()), plain(found)]
    TESTS[name] = run


def table(name, build, wanted=None):
    """A table: its rows are those wanted, or as many."""
    def run():
        found = shown(build())
        if isinstance(wanted, int):
            assert len(found[-1]) == wanted, found
        elif wanted is not None:
            assert found[-1] == [[plain(value) for value in row] for row in wanted], found
        return found
    TESTS[name] = run


# Constants

def s(value):
    return ibis.literal(value, type="string")


def i(value, kind="int64"):
    return ibis.literal(value, type=kind)


def f(value):
    return ibis.literal(value, type="float64")


def day(*of):
    return ibis.literal(dt.date(*of))


def ts(*of):
    return ibis.literal(dt.datetime(*of))


def array(*values):
    return ibis.array(list(values))


null = ibis.literal(None, type="string")
moment = (2024, 2, 29, 13, 4, 5, 678901)
j = lambda text: ibis.literal(json.loads(text), type="json")
m = lambda: ibis.literal({"a": 1, "b": 2}, type="map<string,int64>")

STRINGS = {
    "upper": (lambda: s("aBc").upper(), "ABC"), "lower": (lambda: s("aBC").lower(), "abc"), "length": (lambda: s("a\u20acb").length(), 3),
    "capitalize": (lambda: s("aBC dE").capitalize(), "Abc de"), "reverse": (lambda: s("abc").reverse(), "cba"),
    "strip": (lambda: s(" \ta ").strip(), "a"), "lstrip": (lambda: s("  a ").lstrip(), "a "), "rstrip": (lambda: s("  a ").rstrip(), "  a"),
    "lpad": (lambda: s("7").lpad(3, "0"), "007"), "lpad_longer": (lambda: s("abcdef").lpad(3, "0"), "abcdef"), "rpad": (lambda: s("7").rpad(3, "x"), "7xx"),
    "substr": (lambda: s("abcdef").substr(2, 3), "cde"), "slice": (lambda: s("abcdef")[1:4], "bcd"), "slice_open": (lambda: s("abcdef")[2:], "cdef"), "index": (lambda: s("abc")[1], "b"),
    "left": (lambda: s("abcdef").left(2), "ab"), "right": (lambda: s("abcdef").right(2), "ef"), "repeat": (lambda: s("ab").repeat(3), "ababab"), "multiply": (lambda: s("ab") * 2, "abab"),
    "replace": (lambda: s("a.b.c").replace(".", "-"), "a-b-c"), "translate": (lambda: s("abc").translate("ab", "xy"), "xyc"), "concat": (lambda: s("a") + s("b") + "c", "abc"),
    "concat_null": (lambda: s("a").concat(null), None), "join": (lambda: s("-").join(["a", "b", "c"]), "a-b-c"), "contains": (lambda: s("abc").contains("bc"), True),
    "contains_percent": (lambda: s("abc").contains("%"), False), "startswith": (lambda: s("abc").startswith("ab"), True), "endswith": (lambda: s("abc").endswith("bd"), False),
    "find": (lambda: s("abcabc").find("c"), 2), "find_none": (lambda: s("abc").find("x"), -1), "find_start": (lambda: s("abcabc").find("c", 3), 5),
    "like": (lambda: s("abc").like("a%c"), True), "like_any": (lambda: s("abc").like(["x%", "%c"]), True), "like_escape": (lambda: s("a%c").like(r"a\%c"), True),
    "ilike": (lambda: s("ABC").ilike("a_c"), True), "rlike": (lambda: s("abc123").rlike(r"\d+$"), True), "re_search": (lambda: s("abc").re_search("^b"), False),
    "re_search_class": (lambda: s("x_1").re_search(r"^\w+$"), True), "re_search_any": (lambda: s("foo bar").re_search(["baz", "ba."]), True),
    "re_extract": (lambda: s("key=value").re_extract(r"(\w+)=(\w+)", 2), "value"), "re_extract_whole": (lambda: s("a12b").re_extract(r"[0-9]+", 0), "12"),
    "re_extract_none": (lambda: s("abc").re_extract(r"(\d+)", 1), None), "re_extract_words": (lambda: s("2024-02-29").re_extract(r"(\d{4})-(\d{2})", 1), "2024"),
    "re_replace": (lambda: s("a1b22").re_replace(r"\d+", "#"), "a#b#"), "re_replace_groups": (lambda: s("John Smith").re_replace(r"(\w+) (\w+)", r"\2 \1"), "Smith John"),
    "split": (lambda: s("a,b,,c").split(","), ["a", "b", "", "c"]), "split_part": (lambda: s("a,b,c").split(",")[1], "b"), "re_split": (lambda: s("a1b22c").re_split(r"\d+"), ["a", "b", "c"]),
    "levenshtein": (lambda: s("kitten").levenshtein("sitting"), 3), "ascii": (lambda: s("a").ascii_str(), 97), "find_in_set": (lambda: s("b").find_in_set(["a", "b"]), 1),
    "in": (lambda: s("a").isin(["a", "b"]), True), "not_in": (lambda: s("c").notin(["a", "b"]), True), "compare": (lambda: s("a") < s("b"), True), "between": (lambda: s("b").between("a", "c"), True),
    "cast_int": (lambda: s("42").cast("int32"), 42), "cast_float": (lambda: s("1e3").cast("float64"), 1000.0), "cast_date": (lambda: s("2024-02-29").cast("date"), dt.date(2024, 2, 29)),
    "cast_timestamp": (lambda: s("2024-02-29 01:02:03").cast("timestamp"), pandas.Timestamp(2024, 2, 29, 1, 2, 3)), "cast_bool": (lambda: s("true").cast("boolean"), True),
    "cast_uuid": (lambda: s("00000000-0000-0000-0000-00000000002a").cast("uuid"), uuid.UUID(int=42)), "cast_decimal": (lambda: s("1.25").cast("decimal(10,2)"), D("1.25")),
    "cast_binary": (lambda: s("abc").cast("binary"), b"abc"), "cast_json": (lambda: s('{"a": 1}').cast("json")["a"].int, 1), "try_cast": (lambda: s("42").try_cast("int64"), 42),
    "as_date": (lambda: s("29.02.2024").as_date("%d.%m.%Y"), dt.date(2024, 2, 29)), "as_timestamp": (lambda: s("20240229 0102").as_timestamp("%Y%m%d %H%M"), pandas.Timestamp(2024, 2, 29, 1, 2, tz="UTC")),
    "hash": (lambda: s("abc").hash(), -6747756470228489321), "hash_empty": (lambda: s("").hash() == s("").hash(), True), "typeof": (lambda: s("abc").typeof(), "text"),
    "to_null": (lambda: s("").nullif(""), None), "fill_null": (lambda: null.fill_null("x"), "x"), "length_null": (lambda: null.length(), None), "coalesce": (lambda: ibis.coalesce(null, s("y")), "y"),
    "quote": (lambda: s("it's \\ \"x\""), "it's \\ \"x\""), "unicode": (lambda: s("\U0001f600").length(), 1), "greatest": (lambda: ibis.greatest(s("a"), s("c"), null), "c"), "least": (lambda: ibis.least(s("b"), s("a")), "a")}

NUMBERS = {
    "add": (lambda: i(1) + i(2), 3), "divide": (lambda: i(7) / i(2), 3.5), "floordiv": (lambda: i(7) // i(2), 3), "floordiv_negative": (lambda: i(-7) // i(2), -4), "mod": (lambda: i(7) % i(3), 1),
    "mod_float": (lambda: f(7.5) % f(2.0), 1.5), "power": (lambda: i(2) ** i(10), 1024.0), "negate": (lambda: -i(5), -5), "abs": (lambda: i(-5).abs(), 5), "ceil": (lambda: f(1.2).ceil(), 2),
    "floor": (lambda: f(-1.2).floor(), -2), "round": (lambda: f(2.567).round(2), 2.57), "round_even": (lambda: f(2.5).round(), 3), "round_negative": (lambda: i(1234).round(-2), 1200.0), "sign": (lambda: f(-3.5).sign(), -1.0),
    "sqrt": (lambda: f(2.25).sqrt(), 1.5), "exp": (lambda: f(0.0).exp(), 1.0), "ln": (lambda: f(1.0).ln(), 0.0), "log2": (lambda: f(8.0).log2(), 3.0), "log10": (lambda: f(1000.0).log10(), 3.0),
    "log": (lambda: f(81.0).log(3), 4.0), "sin": (lambda: f(0.5).sin(), math.sin(0.5)), "cos": (lambda: f(0.5).cos(), math.cos(0.5)), "tan": (lambda: f(0.5).tan(), math.tan(0.5)), "cot": (lambda: f(0.5).cot(), 1 / math.tan(0.5)),
    "asin": (lambda: f(0.5).asin(), math.asin(0.5)), "acos": (lambda: f(0.5).acos(), math.acos(0.5)), "atan": (lambda: f(0.5).atan(), math.atan(0.5)), "atan2": (lambda: f(1.0).atan2(2.0), math.atan2(1, 2)),
    "degrees": (lambda: f(math.pi).degrees(), 180.0), "radians": (lambda: f(180.0).radians(), math.pi), "pi": (lambda: ibis.pi + 0, math.pi), "e": (lambda: ibis.e + 0, math.e), "clip": (lambda: i(15).clip(0, 10), 10),
    "clip_lower": (lambda: i(-5).clip(lower=0), 0), "bit_and": (lambda: i(12) & i(10), 8), "bit_or": (lambda: i(12) | i(10), 14), "bit_xor": (lambda: i(12) ^ i(10), 6), "bit_not": (lambda: ~i(12), -13),
    "shift_left": (lambda: i(1) << i(4), 16), "shift_right": (lambda: i(256) >> i(4), 16), "isnan": (lambda: f(float("nan")).isnan(), True), "isinf": (lambda: f(float("-inf")).isinf(), True), "nan": (lambda: f(float("nan")) > f(1e300), True),
    "between": (lambda: i(5).between(1, 5), True), "isin": (lambda: i(5).isin([1, 2]), False), "in_null": (lambda: i(5).isin([1, ibis.literal(None, type="int64")]), None), "cast_text": (lambda: f(1.5).cast("string"), "1.5"), "cast_bool": (lambda: i(0, "int32").cast("boolean"), False),
    "cast_decimal": (lambda: f(1.005).cast("decimal(10,1)"), D("1.0")), "cast_timestamp": (lambda: i(86400).cast("timestamp"), pandas.Timestamp(1970, 1, 2)), "cast_int_round": (lambda: f(2.5).cast("int64"), 3), "decimal": (lambda: ibis.literal(D("1.10"), type="decimal(10,2)") * 3, D("3.30")),
    "decimal_divide": (lambda: ibis.literal(D("10"), type="decimal(10,2)") / 4, 2.5), "big": (lambda: i(2 ** 63 - 1), 2 ** 63 - 1), "int16": (lambda: i(-32768, "int16"), -32768), "float32": (lambda: ibis.literal(0.1, type="float64").cast("float32").typeof(), "real"),
    "to_interval": (lambda: (day(2024, 1, 1) + i(3).as_interval("D")).cast("date"), dt.date(2024, 1, 4)), "to_timestamp": (lambda: i(1_700_000_000).cast("timestamp('UTC')"), pandas.Timestamp("2023-11-14 22:13:20", tz="UTC")), "hash64_value": (lambda: i(7).hash(), -3288951424994980865),
    "hash32": (lambda: i(7, "int32").hash() == i(7, "int64").hash(), True), "hash64": (lambda: i(7).hash() == i(8).hash(), False), "hash_float": (lambda: f(1.5).hash() == f(1.5).hash(), True), "log1p": (lambda: (f(1.0) + 1).log2(), 1.0), "base": (lambda: i(255).cast("string").length(), 3),
    "bucket": (lambda: (i(15) // 10) * 10, 10), "greatest": (lambda: ibis.greatest(i(1), i(5), i(3)), 5), "least": (lambda: ibis.least(f(1.5), f(0.5)), 0.5), "and": (lambda: (i(1) == 1) & (i(2) == 3), False),
    "or": (lambda: (i(1) == 1) | (i(2) == 3), True), "xor": (lambda: (i(1) == 1) ^ (i(2) == 2), False), "not": (lambda: ~(i(1) == 1), False), "isnull": (lambda: ibis.null("int64").isnull(), True), "notnull": (lambda: i(1).notnull(), True), "nullif": (lambda: i(1).nullif(1), None),
    "identical": (lambda: ibis.null("int64").identical_to(ibis.null("int64")), True), "identical_not": (lambda: i(1).identical_to(ibis.null("int64")), False), "ifelse": (lambda: (i(1) > 0).ifelse("yes", "no"), "yes"), "ifelse_null": (lambda: (ibis.null("int64") > 0).ifelse("yes", "no"), "no"),
    "cases": (lambda: i(3).cases((1, "one"), (3, "three"), else_="many"), "three"), "cases_searched": (lambda: ibis.cases((i(3) > 5, "big"), (i(3) > 2, "middle")), "middle"), "cases_none": (lambda: i(3).cases((1, "one")), None), "coalesce": (lambda: ibis.coalesce(ibis.null("int64"), 7), 7),
    "nullable_sum": (lambda: i(1) + ibis.null("int64"), None), "zeroifnull": (lambda: ibis.null("int64").fill_null(0), 0), "uint8_literal": (lambda: i(255, "uint8"), 255), "divide_zero": (lambda: f(1.0).nullif(1.0) / f(2.0), None)}

at = lambda: ts(*moment)
TEMPORAL = {
    **{f"extract_{name}": ((lambda name=name: getattr(at(), name)()), value) for name, value in {
        "year": 2024, "month": 2, "day": 29, "hour": 13, "minute": 4, "second": 5, "millisecond": 678, "microsecond": 678901, "quarter": 1, "day_of_year": 60, "week_of_year": 9,
        "iso_year": 2024, "epoch_seconds": 1709211845}.items()},
    **{f"extract_date_{name}": ((lambda name=name: getattr(day(2021, 1, 3), name)()), value) for name, value in {
        "year": 2021, "month": 1, "day": 3, "quarter": 1, "day_of_year": 3, "week_of_year": 53, "iso_year": 2020, "epoch_seconds": 1609632000}.items()},
    **{f"truncate_{unit}": ((lambda unit=unit: at().truncate(unit)), pandas.Timestamp(wanted)) for unit, wanted in {
        "Y": "2024-01-01", "Q": "2024-01-01", "M": "2024-02-01", "W": "2024-02-26", "D": "2024-02-29", "h": "2024-02-29 13:00", "m": "2024-02-29 13:04", "s": "2024-02-29 13:04:05",
        "ms": "2024-02-29 13:04:05.678", "us": "2024-02-29 13:04:05.678901"}.items()},
    **{f"truncate_date_{unit}": ((lambda unit=unit: day(2024, 5, 17).truncate(unit)), wanted) for unit, wanted in {
        "Y": dt.date(2024, 1, 1), "Q": dt.date(2024, 4, 1), "M": dt.date(2024, 5, 1), "W": dt.date(2024, 5, 13), "D": dt.date(2024, 5, 17)}.items()},
    **{f"delta_{unit}": ((lambda unit=unit, n=n: at() + ibis.interval(n, unit=unit)), pandas.Timestamp(wanted)) for unit, (n, wanted) in {
        "Y": (1, "2025-02-28 13:04:05.678901"), "Q": (1, "2024-05-29 13:04:05.678901"), "M": (-1, "2024-01-29 13:04:05.678901"), "W": (1, "2024-03-07 13:04:05.678901"), "D": (1, "2024-03-01 13:04:05.678901"), "h": (11, "2024-03-01 00:04:05.678901"),
        "m": (-5, "2024-02-29 12:59:05.678901"), "s": (55, "2024-02-29 13:05:00.678901"), "ms": (322, "2024-02-29 13:04:06.000901"), "us": (99, "2024-02-29 13:04:05.679000")}.items()},
    **{f"bucket_{name}": ((lambda of=of, offset=offset: at().bucket(ibis.interval(**of), offset=offset and ibis.interval(**offset)) if offset else at().bucket(ibis.interval(**of))), pandas.Timestamp(wanted)) for name, (of, offset, wanted) in {
        "minutes": ({"minutes": 15}, None, "2024-02-29 13:00"), "hours": ({"hours": 6}, None, "2024-02-29 12:00"), "days": ({"days": 7}, None, "2024-02-29"), "seconds": ({"seconds": 10}, None, "2024-02-29 13:04:00"),
        "offset": ({"minutes": 15}, {"minutes": 2}, "2024-02-29 13:02")}.items()},
    **{f"strftime_{name}": ((lambda form=form: at().strftime(form)), wanted) for name, (form, wanted) in {
        "iso": ("%Y-%m-%d %H:%M:%S", "2024-02-29 13:04:05"), "names": ("%a %A %b %B", "Thu Thursday Feb February"), "short": ("%y%m%d %I", "240229 01"), "doy": ("%j", "060"), "micro": ("%f", "678901"), "date": ("%d/%m/%Y", "29/02/2024")}.items()},
    "day_of_week": (lambda: at().day_of_week.index(), 3), "day_of_week_name": (lambda: at().day_of_week.full_name(), "Thursday"), "sunday": (lambda: day(2024, 3, 3).day_of_week.index(), 6), "date": (lambda: at().date(), dt.date(2024, 2, 29)), "time": (lambda: at().time(), dt.time(13, 4, 5, 678901)),
    "time_literal": (lambda: ibis.time(1, 2, 3), dt.time(1, 2, 3)), "time_hour": (lambda: ibis.literal(dt.time(13, 4, 5)).hour(), 13), "time_minute": (lambda: ibis.literal(dt.time(13, 4, 5)).minute(), 4), "time_truncate": (lambda: ibis.literal(dt.time(13, 4, 5)).truncate("h"), pandas.Timedelta(hours=13)),
    "from_ymd": (lambda: ibis.date(i(2024), i(2), i(29)), dt.date(2024, 2, 29)), "from_ymdhms": (lambda: ibis.timestamp(i(2024), i(2), i(29), i(1), i(2), i(3)), pandas.Timestamp(2024, 2, 29, 1, 2, 3)), "date_add": (lambda: day(2024, 2, 28) + ibis.interval(days=2), pandas.Timestamp(2024, 3, 1)),
    "date_sub": (lambda: day(2024, 3, 1) - ibis.interval(months=1), pandas.Timestamp(2024, 2, 1)), "date_diff": (lambda: (day(2024, 3, 1) - day(2024, 2, 1)).cast("string"), "29"), "timestamp_diff": (lambda: (at() - ts(2024, 2, 28)).cast("string"), "1 day 13:04:05.678901"),
    "delta_days": (lambda: day(2024, 3, 1).delta(day(2024, 2, 1), unit="day"), 29), "timestamp_compare": (lambda: at() > ts(2024, 1, 1), True), "timestamp_between": (lambda: at().between(ts(2024, 1, 1), ts(2025, 1, 1)), True), "date_compare": (lambda: day(2024, 1, 1) == s("2024-01-01").cast("date"), True),
    "cast_string": (lambda: at().cast("string"), "2024-02-29 13:04:05.678901"), "cast_epoch": (lambda: ts(1970, 1, 2).cast("int64"), 86400), "cast_date": (lambda: at().cast("date"), dt.date(2024, 2, 29)), "cast_tz": (lambda: at().cast("timestamp('UTC')"), pandas.Timestamp(*moment, tz="UTC")),
    "range_days": (lambda: ibis.range(ts(2024, 1, 1), ts(2024, 1, 4), ibis.interval(days=1)).length(), 3), "range_hours": (lambda: ibis.range(ts(2024, 1, 1), ts(2024, 1, 1, 6), ibis.interval(hours=2)).cast("array<string>"), ["2024-01-01 00:00:00", "2024-01-01 02:00:00", "2024-01-01 04:00:00"]),
    "range_back": (lambda: ibis.range(ts(2024, 1, 3), ts(2024, 1, 1), ibis.interval(days=-1)).length(), 2), "range_none": (lambda: ibis.range(ts(2024, 1, 3), ts(2024, 1, 1), ibis.interval(days=1)).length(), 0), "interval_sum": (lambda: (ibis.interval(days=1) + ibis.interval(days=2)).cast("string"), "3 days"),
    "interval_multiply": (lambda: at() + ibis.interval(days=1) * 3, pandas.Timestamp("2024-03-03 13:04:05.678901")), "now": (lambda: ibis.now() > ts(2020, 1, 1), True), "today": (lambda: ibis.today() > day(2020, 1, 1), True), "literal_tz": (lambda: ibis.timestamp("2024-07-01 12:00:00+02:00").cast("timestamp('UTC')").hour(), 10),
    "week_start": (lambda: ts(2024, 1, 1).truncate("W"), pandas.Timestamp(2024, 1, 1)), "age": (lambda: (day(2024, 2, 29) - day(2023, 2, 28)).cast("string"), "366")}

ARRAYS = {
    "literal": (lambda: array(1, 2, 3), [1, 2, 3]), "text": (lambda: array("a", "b,c", None), ["a", "b,c", None]), "empty": (lambda: array(1).filter(lambda x: x > 1), []), "length": (lambda: array(1, 2, 3).length(), 3), "length_empty": (lambda: array(1).filter(lambda x: x > 1).length(), 0),
    "index": (lambda: array(1, 2, 3)[1], 2), "index_negative": (lambda: array(1, 2, 3)[-1], 3), "index_outside": (lambda: array(1, 2, 3)[7], None), "slice": (lambda: array(1, 2, 3, 4)[1:3], [2, 3]), "slice_negative": (lambda: array(1, 2, 3, 4)[-2:], [3, 4]), "slice_end": (lambda: array(1, 2, 3, 4)[:-1], [1, 2, 3]),
    "concat": (lambda: array(1, 2).concat(array(3)), [1, 2, 3]), "plus": (lambda: array("a") + array("b"), ["a", "b"]), "repeat": (lambda: array(1, 2) * 2, [1, 2, 1, 2]), "contains": (lambda: array(1, 2).contains(2), True), "contains_not": (lambda: array("a").contains("x"), False), "position": (lambda: array("a", "b").index("b"), 1),
    "position_none": (lambda: array("a", "b").index("x"), -1), "remove": (lambda: array(1, 2, 1).remove(1), [2]), "sort": (lambda: array(3, 1, 2).sort(), [1, 2, 3]), "sort_null": (lambda: array(3, None, 2).sort(), [None, 2, 3]), "distinct": (lambda: array(1, 1, 2).unique().sort(), [1, 2]),
    "union": (lambda: array(1, 2).union(array(2, 3)).sort(), [1, 2, 3]), "intersect": (lambda: array(1, 2, 3).intersect(array(2, 3, 4)).sort(), [2, 3]), "join": (lambda: array("a", "b").join("-"), "a-b"), "join_null": (lambda: array("a", None, "b").join("-"), "a-b"), "map": (lambda: array(1, 2).map(lambda x: x * 10), [10, 20]),
    "map_text": (lambda: array("a", "b").map(lambda x: x.upper()), ["A", "B"]), "map_index": (lambda: array(5, 6).map(lambda x, i: x + i), [5, 7]), "filter": (lambda: array(1, 2, 3).filter(lambda x: x > 1), [2, 3]), "filter_index": (lambda: array(5, 6, 7).filter(lambda x, i: i > 0), [6, 7]), "sums": (lambda: array(1, 2, 3).sums(), 6),
    "maxs": (lambda: array(1, 5, 3).maxs(), 5), "mins": (lambda: array(4, 2).mins(), 2), "means": (lambda: array(1, 2).means(), 1.5), "modes": (lambda: array(1, 2, 2).modes(), 2), "anys": (lambda: array(True, False).anys(), True), "alls": (lambda: array(True, False).alls(), False),
    "compare": (lambda: array(1, 2) == array(1, 2), True), "less": (lambda: array(1, 2) < array(1, 3), True), "cast": (lambda: array(1, 2).cast("array<string>"), ["1", "2"]), "range": (lambda: ibis.range(0, 10, 3), [0, 3, 6, 9]), "range_one": (lambda: ibis.range(3), [0, 1, 2]), "range_back": (lambda: ibis.range(3, 0, -1), [3, 2, 1]),
    "range_zero": (lambda: ibis.range(0, 3, 0), []), "nested": (lambda: ibis.literal([[1, 2], [3, 4]], type="array<array<int64>>"), [[1, 2], [3, 4]]), "dates": (lambda: array(dt.date(2024, 1, 1)).length(), 1), "typeof": (lambda: array(1, 2).cast("array<int64>").typeof(), "bigint[]"), "null": (lambda: ibis.null("array<int64>").length(), None),
    "concat_null": (lambda: array(1).concat(ibis.null("array<int64>")), None), "float": (lambda: array(1.5, float("inf")), [1.5, float("inf")]), "quoted": (lambda: array('"', "\\", "{", "NULL", ""), ['"', "\\", "{", "NULL", ""])}

MAPS = {
    "map": (lambda: m(), {"a": 1, "b": 2}), "length": (lambda: m().length(), 2),
    "keys": (lambda: m().keys().sort(), ["a", "b"]), "values": (lambda: m().values().length(), 2), "merge": (lambda: m() + ibis.literal({"c": 3}, type="map<string,int64>"), {"a": 1, "b": 2, "c": 3}), "merge_over": (lambda: (m() + ibis.literal({"a": 9}, type="map<string,int64>")).values().length(), 2), "literal": (lambda: ibis.literal({"x": "y"}, type="map<string,string>").keys(), ["x"]),
    "null": (lambda: ibis.null("map<string,int64>").keys(), None), "empty": (lambda: ibis.literal({}, type="map<string,int64>").length(), 0), "key_list": (lambda: m().keys().length() + m().length(), 4)}

JSON = {
    "object": (lambda: j('{"a": {"b": [1, "x", null]}}')["a"]["b"][1].str, "x"), "int": (lambda: j('{"a": 7}')["a"].int, 7), "float": (lambda: j('{"a": 1.5}')["a"].float, 1.5), "bool": (lambda: j('{"a": true}')["a"].bool, True), "str": (lambda: j('{"a": "t"}')["a"].str, "t"),
    "str_of_int": (lambda: j('{"a": 7}')["a"].str, None), "int_of_str": (lambda: j('{"a": "x"}')["a"].int, None), "missing": (lambda: j('{"a": 1}')["x"].int, None), "array_index": (lambda: j("[1, 2, 3]")[1].int, 2), "array_length": (lambda: j("[1, 2, 3]").array.length(), 3),
    "array_of_object": (lambda: j('{"a": 1}').array, None), "null": (lambda: j("null").bool, None), "unwrap": (lambda: j('{"a": 7}')["a"].unwrap_as("int64"), 7),
    "unwrap_text": (lambda: j('{"a": "t"}')["a"].unwrap_as("string"), "t"), "cast_text": (lambda: j('{"a": 1}').cast("string"), '{"a": 1}')}

OTHERS = {
    "uuid": (lambda: ibis.literal(uuid.UUID(int=42)), uuid.UUID(int=42)), "uuid_random": (lambda: ibis.uuid().cast("string").length(), 36), "random": (lambda: ibis.random() < 1, True), "binary": (lambda: ibis.literal(b"\xff"), b"\xff"), "binary_text": (lambda: ibis.literal(b"a").cast("string"), "a"),
    "inet": (lambda: ibis.literal("10.0.0.1", type="inet").cast("string"), "10.0.0.1"), "macaddr": (lambda: ibis.literal("08:00:2b:01:02:03", type="macaddr").cast("string"), "08:00:2b:01:02:03"), "typeof_int": (lambda: i(1).cast("int64").typeof(), "integer"), "typeof_null": (lambda: ibis.null().typeof(), "null"),
    "typeof_date": (lambda: day(2024, 1, 1).typeof(), "date"), "typeof_timestamp": (lambda: at().typeof(), "timestamp without time zone"), "typeof_decimal": (lambda: ibis.literal(D("1.5")).typeof(), "numeric"), "true": (lambda: ibis.literal(True), True), "false_and_null": (lambda: ibis.literal(False) & ibis.null("boolean"), False),
    "null_boolean": (lambda: ibis.literal(True) & ibis.null("boolean"), None), "boolean_negate": (lambda: -ibis.literal(True), False), "boolean_int": (lambda: ibis.literal(True).cast("int32"), 1), "is_in_subquery": (lambda: i(3).isin(con.table("numbers").id), True), "scalar_subquery": (lambda: con.table("numbers").x.max() + 1, 21.0),
    "param": (lambda: ibis.literal(5) + con.table("numbers").id.count(), 13), "null_literal": (lambda: ibis.null(), None)}

for kind, values in {"string": STRINGS, "number": NUMBERS, "temporal": TEMPORAL, "array": ARRAYS, "map": MAPS, "json": JSON, "other": OTHERS}.items():
    for key, (build, wanted) in values.items():
        scalar(f"{kind}_{key}", build, wanted)


# Tables

t = lambda: con.table("numbers")
u = lambda: con.table("groups")
e = lambda: con.table("events")
q = lambda: con.table("quotes")

TABLES = {
    "select": (lambda: t()[["id", "g"]].order_by("id"), 8), "select_expr": (lambda: t().select("id", y=_.x * 2).order_by("id").limit(2), [[1, 5.0], [2, 10.0]]), "mutate": (lambda: t().mutate(z=_.id + 1).order_by("id")[["id", "z"]].limit(1), [[1, 2]]), "mutate_replace": (lambda: t().mutate(x=_.x.fill_null(0)).order_by("id").limit(3), 3),
    "filter": (lambda: t().filter(_.x > 5).select("id"), [[3], [4], [5], [7]]), "filter_two": (lambda: t().filter(_.g == "a", _.x.notnull()).select("id"), [[1], [2], [7]]), "filter_or": (lambda: t().filter((_.g == "a") | (_.id == 8)).select("id"), [[1], [2], [6], [7], [8]]),
    "filter_isin": (lambda: t().filter(_.g.isin(["b", "c"])).select("id"), [[3], [4], [5]]), "filter_null": (lambda: t().filter(_.g.isnull()).select("id"), [[8]]), "filter_like": (lambda: t().filter(_.s.like("%e%")).select("s"), 5),
    "order": (lambda: t().order_by(ibis.desc("g", nulls_first=False), "id").select("id").limit(8), [[5], [3], [4], [1], [2], [6], [7], [8]]), "order_nulls_first": (lambda: t().order_by(ibis.asc("g", nulls_first=True), "id").select("id").limit(2), [[8], [1]]), "order_expr": (lambda: t().order_by(-_.id).select("id").limit(2), [[8], [7]]),
    "limit_offset": (lambda: t().order_by("id").limit(2, offset=3).select("id"), [[4], [5]]), "slice": (lambda: t().order_by("id")[1:3].select("id"), [[2], [3]]), "distinct": (lambda: t()[["g"]].distinct(), [["a"], ["b"], ["c"], [None]]), "distinct_on": (lambda: t().distinct(on="g", keep="first").count().as_table(), [[4]]),
    "drop": (lambda: t().drop("s", "d", "at", "n").order_by("id").limit(1), 1), "rename": (lambda: t().rename(key="id")[["key"]].order_by("key").limit(1), [[1]]), "rename_upper": (lambda: t().rename("ALL_CAPS").limit(0), 0), "relocate": (lambda: t().relocate("s", before="id").limit(0), 0), "head": (lambda: t().order_by("id").head(2).select("id"), [[1], [2]]),
    "count": (lambda: t().count().as_table(), [[8]]), "nunique": (lambda: t().nunique().as_table(), [[8]]), "drop_null": (lambda: t().drop_null("x").count().as_table(), [[7]]), "drop_null_all": (lambda: t().drop_null(how="all").count().as_table(), [[8]]), "fill_null": (lambda: t().fill_null({"x": 0.0, "g": "?"}).filter(_.g == "?").select("id", "g"), [[8, "?"]]),
    "cast": (lambda: t().cast({"id": "string"}).order_by("id").select("id").limit(1), [["1"]]), "selectors": (lambda: t().select(ibis.selectors.numeric()).limit(0), 0), "across": (lambda: t().agg(ibis.selectors.across(ibis.selectors.of_type("float64"), dict(lo=_.min(), hi=_.max()))), 1), "where_column": (lambda: t().filter(t().x > t().x.mean()).select("id"), 3),
    "join_inner": (lambda: t().join(u(), "g").select("id", "name").order_by("id"), [[1, "alpha"], [2, "alpha"], [3, "beta"], [4, "beta"], [6, "alpha"], [7, "alpha"]]), "join_left": (lambda: t().left_join(u(), "g").select("id", "name").order_by("id"), 8), "join_right": (lambda: t().right_join(u(), "g").select("id", "name"), 7),
    "join_outer": (lambda: t().outer_join(u(), "g").select("id", "name"), 9), "join_semi": (lambda: t().semi_join(u(), "g").select("id"), 6), "join_anti": (lambda: t().anti_join(u(), "g").select("id"), [[5], [8]]), "join_cross": (lambda: t().select("id").cross_join(u()).count().as_table(), [[24]]), "join_predicate": (lambda: t().join(u(), (t().g == u().g) & (t().x > 4)).select("id", "name").order_by("id"), 4),
    "join_unequal": (lambda: t().join(u(), t().x > u().lo).count().as_table(), 1), "join_self": (lambda: t().join(t().view(), "g", rname="r_{name}").count().as_table(), [[21]]), "join_three": (lambda: t().join(u(), "g").join(e(), "id").select("id", "name", "kind").order_by("id", "kind"), 3), "join_names": (lambda: t().join(u(), t().g == u().g, lname="l_{name}", rname="r_{name}").limit(0), 0),
    "join_asof": (lambda: e().asof_join(q(), on="at", predicates="symbol").select("id", "symbol", "price").order_by("id"), [[1, "x", 1.5], [2, "x", 2.5], [3, "y", None], [9, "y", 7.0]]), "join_asof_all": (lambda: e().asof_join(q(), "at").select("id", "price").order_by("id"), 4), "join_chain": (lambda: u().left_join(t(), "g").group_by("name").agg(n=_.id.count()).order_by("name"), [["alpha", 4], ["beta", 2], ["delta", 0]]),
    "union": (lambda: t()[["g"]].union(u()[["g"]]), 11), "union_distinct": (lambda: t()[["g"]].union(u()[["g"]], distinct=True), [["a"], ["b"], ["c"], ["d"], [None]]), "intersect": (lambda: t()[["g"]].intersect(u()[["g"]]), [["a"], ["b"]]), "intersect_all": (lambda: t()[["g"]].intersect(t()[["g"]], distinct=False), 8),
    "difference": (lambda: u()[["g"]].difference(t()[["g"]]), [["d"]]), "difference_all": (lambda: t()[["g"]].difference(u()[["g"]], distinct=False), 6), "union_order": (lambda: t().select(id=_.id.cast("int32")).union(e().select("id")).order_by(_.id.desc()).limit(2), [[9], [8]]),
    "group": (lambda: t().group_by("g").agg(n=_.count(), total=_.x.sum(), mean=_.x.mean()).order_by("g"), [["a", 4, 17.5, 17.5 / 3], ["b", 2, 27.5, 13.75], ["c", 1, 20.0, 20.0], [None, 1, 1.25, 1.25]]), "group_two": (lambda: t().group_by("g", _.id % 2).agg(n=_.count()), 6), "group_expr": (lambda: t().group_by(even=_.id % 2 == 0).agg(n=_.count()).order_by("even"), [[False, 4], [True, 4]]),
    "group_having": (lambda: t().group_by("g").having(_.count() > 1).agg(n=_.count()).order_by("g"), [["a", 4], ["b", 2]]), "group_min_max": (lambda: t().group_by("g").agg(lo=_.s.min(), hi=_.s.max(), first=_.d.min(), last=_.at.max()).order_by("g"), 4), "group_where": (lambda: t().group_by("g").agg(n=_.x.sum(where=_.id > 2)).order_by("g"), 4), "group_size": (lambda: t().group_by("g").size().order_by("g"), 4),
    "group_count": (lambda: t().group_by("g").count().order_by("g"), 4), "group_mutate": (lambda: t().group_by("g").mutate(share=_.x / _.x.sum()).select("id", "share").order_by("id"), 8), "group_filter": (lambda: t().group_by("g").mutate(r=ibis.row_number().over(order_by=_.id)).filter(_.r == 0).select("id").order_by("id"), [[1], [3], [5], [8]]), "group_month": (lambda: t().group_by(m=_.at.truncate("M")).agg(n=_.count()).order_by("m"), 3),
    "value_counts": (lambda: t().g.value_counts().order_by("g"), [["a", 4], ["b", 2], ["c", 1], [None, 1]]), "topk": (lambda: t().g.topk(2), [["a", 4], ["b", 2]]), "topk_by": (lambda: t().g.topk(2, by=_.x.max()), 2), "mode": (lambda: t().g.mode().as_table(), [["a"]]), "describe": (lambda: t().select("id", "g").describe().select("name", "count", "nulls", "unique"), 2), "info": (lambda: t().select("id", "g").info().select("name", "nulls", "non_nulls"), 2),
    "sample_all": (lambda: t().sample(1.0).count().as_table(), [[8]]), "sample_block": (lambda: t().sample(1.0, method="block").count().as_table(), [[8]]), "sample_seed": (lambda: t().sample(0.0, seed=5).count().as_table(), [[0]]), "unnest": (lambda: con.table("lists").unnest("a").select("id", "a").order_by("id", "a"), [[1, 1], [1, 2], [2, 3]]),
    "unnest_keep": (lambda: con.table("lists").unnest("a", keep_empty=True).select("id", "a"), 5), "unnest_offset": (lambda: con.table("lists").unnest("b", offset="n").select("id", "b", "n").order_by("id", "n"), [[1, "x", 0], [1, "y", 1], [3, "z", 0]]), "unnest_column": (lambda: con.table("lists").select("id", v=_.a.unnest()).order_by("id", "v"), [[1, 1], [1, 2], [2, 3]]), "unnest_group": (lambda: con.table("lists").select(v=_.a.unnest()).group_by("v").agg(n=_.count()).order_by("v"), 3),
    "pivot_wider": (lambda: t().filter(_.g.notnull()).mutate(even=_.id % 2).pivot_wider(id_cols="even", names_from="g", names=["a", "b", "c"], values_from="x", values_agg="sum").order_by("even"), 2), "pivot_longer": (lambda: t().filter(_.x.notnull()).select("id", "x", y=_.id.cast("float64")).pivot_longer(["x", "y"]).order_by("id", "name").limit(3), 3), "array_column": (lambda: con.table("lists").mutate(n=_.a.length(), last=_.a[-1]).select("id", "n", "last").order_by("id"), 4),
    "memtable": (lambda: ibis.memtable({"k": [1, 2], "v": ["x", None]}).order_by("k"), [[1, "x"], [2, None]]), "memtable_join": (lambda: t().join(ibis.memtable({"id": [1, 3], "w": [0.5, 1.5]}), "id").select("id", "w").order_by("id"), [[1, 0.5], [3, 1.5]]), "memtable_types": (lambda: ibis.memtable(pandas.DataFrame({"d": [dt.date(2024, 1, 1)], "t": [pandas.Timestamp(2024, 1, 1, 2)], "b": [True], "f": [1.5], "l": [[1, 2]]})), 1),
    "values": (lambda: ibis.range(5).unnest().name("v").as_table().filter(_.v > 2), [[3], [4]]), "struct": (lambda: t().select("id", p=ibis.struct({"a": _.id, "b": _.s})).order_by("id").limit(1), 1), "view": (lambda: con.table("numbers_view").order_by("id"), 7), "exists": (lambda: t().filter((u().g == t().g).any()).select("id"), 6), "not_exists": (lambda: t().filter(~(u().g == t().g).any()).select("id"), [[5], [8]]),
    "correlated": (lambda: t().filter(t().x == t().view().filter(lambda v: v.g == t().g).x.max()).select("id"), None), "cte": (lambda: (lambda base: base.join(base.view(), "g", rname="r_{name}").count().as_table())(t().group_by("g").agg(n=_.count()).filter(_.n > 1)), [[2]]), "nested_agg": (lambda: t().group_by("g").agg(n=_.count()).n.max().as_table(), [[4]]),
    "sql_table": (lambda: t().sql("SELECT g, count(*) AS n FROM {} GROUP BY g".format("numbers")).order_by("g"), 4), "alias_sql": (lambda: t().alias("al").sql("SELECT id, x FROM al WHERE id < 3").order_by("id"), [[1, 2.5], [2, 5.0]]), "con_sql": (lambda: con.sql("SELECT g, sum(id) AS n FROM numbers GROUP BY g").filter(_.n > 5).order_by("g"), 3),
    "con_sql_dialect": (lambda: con.sql("SELECT id, s FROM numbers LIMIT 3", dialect="duckdb").count().as_table(), [[3]]), "con_sql_types": (lambda: con.sql("SELECT 1::smallint AS a, 'x'::varchar(5) AS b, 1.5::numeric(5,2) AS c, '{1}'::int[] AS d, now()::timestamptz(3) AS e, '1 day'::interval AS f, '{}'::jsonb AS g").limit(0), 0), "empty": (lambda: t().filter(ibis.literal(False)), 0),
    "hash_group": (lambda: t().group_by(h=_.g.hash()).agg(n=_.count()).order_by("n", "h"), 4), "bucket": (lambda: t().select(b=_.x.bucket([0, 5, 10, 30])).group_by("b").agg(n=_.count()).order_by("b"), 4), "histogram": (lambda: t().select("id", h=_.x.histogram(nbins=4)).order_by("id"), 8), "label": (lambda: t().select("id", c=ibis.cases((_.x > 10, "high"), (_.x > 5, "mid"), else_="low")).order_by("id"), 8),
    "ntile": (lambda: t().mutate(k=ibis.ntile(3).over(order_by="id")).select("id", "k").order_by("id"), 8), "order_random": (lambda: t().order_by(ibis.random()).count().as_table(), [[8]]), "names_quoted": (lambda: t().select(**{'Odd "name"': _.id}).order_by('Odd "name"').limit(1), [[1]]), "select_constant": (lambda: t().select(one=ibis.literal(1), two=ibis.literal("x")).limit(1), [[1, "x"]])}

for key, (build, wanted) in TABLES.items():
    table(f"table_{key}", build, wanted)

AGGREGATES = {
    "sum": lambda c: c.x.sum(), "sum_int": lambda c: c.id.sum(), "sum_numeric": lambda c: c.n.sum(), "sum_boolean": lambda c: (c.x > 5).sum(), "mean": lambda c: c.x.mean(), "mean_int": lambda c: c.id.mean(), "min": lambda c: c.d.min(), "max": lambda c: c.at.max(), "count": lambda c: c.x.count(), "nunique": lambda c: c.g.nunique(),
    "std": lambda c: c.x.std(), "std_pop": lambda c: c.x.std(how="pop"), "var": lambda c: c.x.var(), "var_pop": lambda c: c.x.var(how="pop"), "median": lambda c: c.x.median(), "median_text": lambda c: c.s.median(), "median_numeric": lambda c: c.n.median(), "quantile": lambda c: c.x.quantile(0.25), "quantiles": lambda c: c.x.quantile([0.1, 0.5, 0.9]),
    "quantile_text": lambda c: c.s.quantile(0.75), "quantile_where": lambda c: c.x.quantile(0.5, where=c.id > 2), "approx_median": lambda c: c.x.approx_median(), "approx_nunique": lambda c: c.g.approx_nunique(), "approx_quantile": lambda c: c.x.approx_quantile(0.4), "mode": lambda c: c.g.mode(), "mode_where": lambda c: c.g.mode(where=c.id > 2), "argmax": lambda c: c.s.argmax(c.x),
    "argmin": lambda c: c.s.argmin(c.x), "argmax_where": lambda c: c.s.argmax(c.x, where=c.g == "b"), "collect": lambda c: c.id.collect(order_by=c.id), "collect_desc": lambda c: c.id.collect(order_by=c.id.desc()), "collect_distinct": lambda c: c.g.collect(distinct=True).length(), "collect_null": lambda c: c.x.collect(order_by=c.id, include_null=True),
    "collect_where": lambda c: c.s.collect(where=c.id < 4, order_by=c.s), "first": lambda c: c.x.first(order_by=c.id.desc()), "last": lambda c: c.s.last(order_by=c.id), "arbitrary": lambda c: c.id.arbitrary() > 0, "group_concat": lambda c: c.s.group_concat(order_by=c.id),
    "group_concat_sep": lambda c: c.s.group_concat(" | ", where=c.id > 5, order_by=c.s), "any": lambda c: (c.x > 15).any(), "all": lambda c: (c.x > 1).all(), "notany": lambda c: ~(c.x > 100).any(), "notall": lambda c: ~(c.x > 5).all(), "bit_and": lambda c: c.id.bit_and(), "bit_or": lambda c: c.id.bit_or(), "bit_xor": lambda c: c.id.bit_xor(),
    "corr": lambda c: c.x.corr(c.id, how="pop"), "cov": lambda c: c.x.cov(c.id), "cov_pop": lambda c: c.x.cov(c.id, how="pop"), "count_where": lambda c: c.count(where=c.x > 5), "distinct_count": lambda c: c.g.nunique(where=c.id > 4), "sum_expr": lambda c: (c.x * c.id).sum() / c.id.sum(),
    "max_minus_min": lambda c: c.id.max() - c.id.min(), "length": lambda c: c.s.length().sum(), "date_range": lambda c: c.d.max().day_of_year() - c.d.min().day_of_year(), "nth_null": lambda c: c.x.isnull().sum(), "skew": lambda c: ((c.id - 3) ** 2).sum(), "kurtosis": lambda c: c.id.cast("float64").std() ** 2}
for key, aggregate in AGGREGATES.items():
    TESTS[f"aggregate_{key}"] = lambda aggregate=aggregate: [shown(aggregate(t()).name("v").as_table()), shown(t().filter(_.id > 100).agg(v=aggregate)), shown(t().group_by("g").agg(v=aggregate).order_by("g"))]

w = dict(group_by="g", order_by="id")
WINDOWS = {
    "row_number": lambda: ibis.row_number().over(order_by=_.id), "rank": lambda: ibis.rank().over(order_by=_.g), "dense_rank": lambda: ibis.dense_rank().over(order_by=_.g), "percent_rank": lambda: ibis.percent_rank().over(order_by=_.g), "cume_dist": lambda: ibis.cume_dist().over(order_by=_.g), "ntile": lambda: ibis.ntile(2).over(**w),
    "column_rank": lambda: _.x.rank(), "column_dense_rank": lambda: _.g.dense_rank(), "lag": lambda: _.x.lag().over(**w), "lag_two": lambda: _.x.lag(2, default=-1.0).over(order_by="id"), "lead": lambda: _.x.lead().over(**w), "lead_default": lambda: _.s.lead(1, default="none").over(**w), "first": lambda: _.s.first().over(**w), "last": lambda: _.s.last().over(**w),
    "last_all": lambda: _.s.last().over(ibis.window(group_by="g", order_by="id", preceding=None, following=None)), "nth": lambda: _.s.nth(1).over(**w), "sum": lambda: _.x.sum().over(group_by="g"), "cumsum": lambda: _.x.cumsum(order_by="id"), "cumsum_group": lambda: _.x.cumsum(group_by="g", order_by="id"), "cummax": lambda: _.x.cummax(order_by="id"),
    "cummin": lambda: _.x.cummin(order_by="id"), "cummean": lambda: _.x.cummean(order_by="id"), "cumany": lambda: (_.x > 10).cumany(order_by="id"), "cumall": lambda: (_.x < 10).cumall(order_by="id"), "rows": lambda: _.x.sum().over(ibis.window(order_by="id", preceding=1, following=1)), "rows_trailing": lambda: _.x.mean().over(ibis.trailing_window(2, order_by="id")),
    "rows_between": lambda: _.id.sum().over(rows=(-2, -1), order_by="id"), "rows_following": lambda: _.id.sum().over(rows=(1, 2), order_by="id"), "rows_unbounded": lambda: _.id.sum().over(rows=(0, None), order_by="id"), "range": lambda: _.id.sum().over(range=(-2, 1), order_by="id"), "range_float": lambda: _.id.count().over(range=(-5.0, 0.0), order_by=_.x.fill_null(0.0)),
    "range_interval": lambda: _.id.count().over(range=(-ibis.interval(days=20), 0), order_by="at"), "range_unbounded": lambda: _.id.sum().over(range=(None, 0), order_by="g"), "cumulative": lambda: _.id.count().over(ibis.cumulative_window(order_by="id")), "desc": lambda: _.id.sum().over(order_by=ibis.desc("id")), "two_orders": lambda: ibis.row_number().over(order_by=[_.g.desc(), _.id.desc()]),
    "expression": lambda: _.x - _.x.mean().over(group_by="g"), "share": lambda: _.id / _.id.sum(), "nested": lambda: (_.id.sum().over(group_by="g") + ibis.row_number().over(order_by="id")), "std": lambda: _.id.std().over(group_by="g"), "corr": lambda: _.id.cast("float64").corr(_.x, how="pop").over(group_by="g"), "collect": lambda: _.id.collect().over(**w), "concat": lambda: _.s.group_concat().over(**w),
    "max_date": lambda: _.d.max().over(group_by="g"), "where": lambda: _.id.sum(where=_.id > 3).over(group_by="g"), "any": lambda: (_.x > 10).any().over(group_by="g"), "diff": lambda: _.at.epoch_seconds() - _.at.epoch_seconds().lag().over(order_by="id"), "case": lambda: (ibis.row_number().over(**w) == 0).ifelse("first", "later")}
for key, window in WINDOWS.items():
    table(f"window_{key}", lambda window=window: t().mutate(v=window()).select("id", "v").order_by("id"), 8)


# Columns of all types

TYPES = {
    "bool": "true", "int2": "-5", "int4": "7", "int8": "9007199254740993", "float4": "1.5", "float8": "1e300", "numeric": "12345.678", "numeric(10,2)": "1.5", "text": "a\u20ac", "varchar(9)": "x", "char(4)": "x", "bpchar": "xy", "name": "n", '"char"': "c", "citext": "Ab", "bytea": "\\x00ff", "date": "2024-02-29",
    "time": "12:34:56.789", "timetz": "12:00+02", "timestamp": "2024-02-29 12:34:56.789", "timestamp(3)": "1969-12-31", "timestamptz": "2024-07-01 12:00+02", "timestamptz(0)": "2024-07-01 12:00+02", "interval": "1 day 02:03:04", "uuid": "00000000-0000-0000-0000-00000000002a", "json": '{"a": 1}', "jsonb": '{"a": [1, null]}',
    "hstore": '"a"=>"1"', "inet": "10.0.0.1", "cidr": "10.0.0.0/8", "macaddr": "08:00:2b:01:02:03", "macaddr8": "08:00:2b:01:02:03:04:05", "oid": "7", "mood": "happy", "money": "1.50", "bit(3)": "101", "varbit": "01", "xml": "<a/>", "tsvector": "'a'", "point": "(1,2)", "int4range": "[1,5)", "positive": "7",
    "bool[]": "{t,f}", "int2[]": "{1}", "int4[]": "{1,2,NULL}", "int8[]": "{}", "float8[]": "{1.5}", "numeric[]": "{1.5}", "text[]": "{a,b}", "varchar(5)[]": "{a}", "date[]": "{2024-01-01}", "timestamp[]": "{2024-01-01}", "timestamptz[]": "{2024-01-01}", "uuid[]": "{00000000-0000-0000-0000-00000000002a}", "jsonb[]": "{1}", "int4[][]": "{{1,2},{3,4}}",
    "macaddr[]": "{08:00:2b:01:02:03}", "inet[]": "{10.0.0.1}", "mood[]": "{sad}", "interval[]": "{1 day}", "time[]": "{12:00}"}


def column(kind, text):
    def run():
        con.raw_sql(f"CREATE TABLE one_type (k int, v {kind}, nn {kind} NOT NULL)").close()
        with con.con.cursor() as cursor:
            cursor.execute("INSERT INTO one_type VALUES (1, '{0}', '{0}'), (2, NULL, '{0}')".format(text.replace("'", "''")))
        found = con.table("one_type")
        return [str(found.schema()), failure(lambda: plain(con.execute(found.order_by("k")).v.tolist())), failure(lambda: shown(found.order_by("k"))), str(con.sql("SELECT v FROM one_type").schema()),
                failure(lambda: con.execute(found.v.cast("string").collect())), failure(lambda: plain(con.execute(found.v.count()))), failure(lambda: con.execute(found.v.typeof().arbitrary()))]
    TESTS[f"changing_column_{kind}"] = run


for entry in TYPES.items():
    column(*entry)


MADE = {"boolean": [True, None], "int8": [1, None], "int16": [-5, None], "int32": [7, None], "int64": [2 ** 40, None], "float32": [1.5, None], "float64": [1.5, None], "decimal(12,3)": [D("1.250"), D("-0.001")], "string": ["a'\u20ac", None], "binary": [b"\x00\xff", None], "date": [dt.date(2024, 2, 29), None],
        "time": [dt.time(1, 2, 3), None], "timestamp": [dt.datetime(2024, 2, 29, 1, 2, 3, 456), None], "timestamp(3)": [dt.datetime(2024, 2, 29, 1, 2, 3), None], "timestamp('UTC')": [dt.datetime(2024, 2, 29, tzinfo=dt.timezone.utc), None], "uuid": [str(uuid.UUID(int=42)), None], "json": ['{"a": [1, null]}', "7"], "array<int64>": [[1, 2], None],
        "array<string>": [["a", None], None], "array<float64>": [[1.5], []], "map<string,int64>": [{"a": 1}, None], "!string": ["x", "y"], "!int64": [1, 2], "inet": ["10.0.0.1", None], "macaddr": ["08:00:2b:01:02:03", None], "interval('s')": [None, None]}


@test(*MADE)
def changing_made(kind):
    """A table with a column of Ibis' type: made, described, filled and read."""
    made = con.create_table("made", schema={"k": "int64", "v": kind})
    described = str(con.table("made").schema())
    server = con.raw_sql("SELECT format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum").fetchall()
    filled = failure(lambda: con.insert("made", ibis.memtable({"k": [1, 2], "v": MADE[kind]}, schema={"k": "int64", "v": kind})))
    return [str(made.schema()), described, server, filled, failure(lambda: shown(con.table("made").order_by("k")))]


# What changes the database

FRAME = {"a": [1, 2, 3], "b": ["x", None, "z"], "c": [1.5, None, float("inf")]}
SOURCES = {"pandas": lambda: pandas.DataFrame(FRAME), "pyarrow": lambda: pyarrow.table(FRAME), "polars": lambda: polars.DataFrame(FRAME), "polars_lazy": lambda: polars.LazyFrame(FRAME), "memtable": lambda: ibis.memtable(FRAME), "expression": lambda: t().group_by("g").agg(n=_.count()), "table": lambda: t()}


@test(*SOURCES)
def changing_create_table(source):
    made = con.create_table("made", SOURCES[source]())
    return [str(made.schema()), str(con.table("made").schema()), shown(made), "made" in con.list_tables()]


@test(*SOURCES)
def changing_create_temp(source):
    made = con.create_table("made", SOURCES[source](), temp=True)
    other = ibis.connect(uri)
    return [shown(made), "made" in con.list_tables(), "made" in other.list_tables(), other.disconnect()]


@test(*SOURCES)
def changing_insert(source):
    con.create_table("made", SOURCES[source]())
    con.insert("made", SOURCES[source]())
    counts = [con.execute(con.table("made").count())]
    con.insert("made", SOURCES[source](), overwrite=True)
    return [*counts, con.execute(con.table("made").count()), shown(con.table("made"))]


@test(*SOURCES)
def changing_overwrite(source):
    con.create_table("made", schema={"old": "string"})
    refused = failure(lambda: con.create_table("made", SOURCES[source]()))
    con.create_table("made", SOURCES[source](), overwrite=True)
    return [refused, str(con.table("made").schema()), shown(con.table("made"))]


@test()
def changing_truncate():
    con.truncate_table("numbers")
    return [con.execute(t().count()), failure(lambda: con.truncate_table("nothing"))]


@test()
def changing_drop_table():
    con.drop_table("lists")
    return ["lists" in con.list_tables(), failure(lambda: con.drop_table("lists")), failure(lambda: con.drop_table("lists", force=True)), failure(lambda: con.drop_table("numbers")), failure(lambda: con.table("lists"))]


@test()
def changing_rename_table():
    con.raw_sql("ALTER TABLE lists RENAME TO lists_two").close()
    return [con.list_tables(like="lists"), con.execute(con.table("lists_two").count())]


@test()
def changing_views():
    first = con.create_view("v_one", t().filter(_.x > 5).select("id", "x"))
    seen = [shown(first), "v_one" in con.list_tables(), failure(lambda: con.create_view("v_one", u()))]
    con.create_view("v_one", t().select("id", "x").filter(_.x > 15), overwrite=True)
    seen += [shown(con.table("v_one")), con.raw_sql("SELECT pg_get_viewdef('v_one')").fetchall()]
    con.drop_view("v_one")
    return [*seen, "v_one" in con.list_tables(), failure(lambda: con.drop_view("v_one")), failure(lambda: con.drop_view("v_one", force=True))]


@test("group", "join", "window", "case", "array", "union", "dates", "text")
def changing_view_text(kind):
    """A view of what Ibis writes, and how the server prints it."""
    made = {"group": lambda: t().group_by("g").agg(n=_.count(), m=_.x.mean(), c=_.s.group_concat(order_by=_.id)), "join": lambda: t().left_join(u(), "g").select("id", "name"), "window": lambda: t().mutate(r=ibis.rank().over(group_by="g", order_by=_.x.desc()), z=_.x.lag(1)).select("id", "r", "z"),
            "case": lambda: t().select(v=_.id.cases((1, "one"), else_="more"), w=(_.x > 5).ifelse(1, 0)), "array": lambda: con.table("lists").select(v=_.a.map(lambda x: x + 1), l=_.a[0], w=_.b.join(",")), "union": lambda: t()[["g"]].union(u()[["g"]], distinct=True), "dates": lambda: t().select(m=_.at.truncate("M"), y=_.d.year(), z=_.at + ibis.interval(days=1)),
            "text": lambda: t().select(a=_.s.upper() + "x", b=_.s.re_replace("e", "E"), c=_.s.like("t%"), d=_.s.substr(0, 2))}[kind]()
    con.create_view("v_one", made)
    return [str(con.table("v_one").schema()), con.raw_sql("SELECT pg_get_viewdef('v_one')").fetchall(), shown(con.table("v_one"))]


@test()
def changing_schemas():
    con.create_database("ibis_new")
    seen = ["ibis_new" in con.list_databases(), failure(lambda: con.create_database("ibis_new")), failure(lambda: con.create_database("ibis_new", force=True))]
    made = con.create_table("inside", pandas.DataFrame(FRAME), database="ibis_new")
    seen += [con.list_tables(database="ibis_new"), shown(made), shown(con.table("inside", database="ibis_new").filter(_.a > 1)), "inside" in con.list_tables(), failure(lambda: con.drop_database("ibis_new"))]
    con.insert("inside", pandas.DataFrame(FRAME), database="ibis_new")
    seen += [con.execute(con.table("inside", database="ibis_new").count()), failure(lambda: con.drop_table("inside", database="ibis_new")), con.list_tables(database="ibis_new")]
    con.drop_database("ibis_new")
    return [*seen, "ibis_new" in con.list_databases(), failure(lambda: con.drop_database("ibis_new")), failure(lambda: con.drop_database("ibis_new", force=True))]


@test()
def changing_cache():
    cached = t().group_by("g").agg(n=_.count()).cache()
    seen = [shown(cached), shown(cached.filter(_.n > 1)), len([one for one in con.list_tables() if one.startswith("ibis_cache")])]
    cached.release()
    return seen


@test()
def changing_upsert():
    con.create_table("made", schema={"a": "int64", "b": "string", "c": "float64"})
    return [failure(lambda: con.upsert("made", pandas.DataFrame(FRAME), on="a")), failure(lambda: con.upsert("made", pandas.DataFrame(FRAME), on="a")), shown(con.table("made"))]


@test()
def changing_raw_sql():
    seen = []
    for text in ("INSERT INTO groups VALUES ('z', 'zeta', 5) RETURNING *", "SELECT count(*) FROM groups", "UPDATE groups SET lo = lo + 1 RETURNING g, lo", "DELETE FROM groups WHERE g = 'z'", "VALUES (1, 'x'), (2, NULL)", "SHOW server_version_num"):
        with con.raw_sql(text) as cursor:
            seen.append([cursor.statusmessage, cursor.rowcount, cursor.description and [str(cursor.fetchall()[:5])][:1 if "version" not in text else 0]])
    return [*seen, failure(lambda: con.raw_sql("SELECT 1 / 0")), failure(lambda: con.raw_sql("SELEC 1")), con.execute(u().count())]


@test()
def changing_begin():
    with con.begin() as cursor:
        cursor.execute("INSERT INTO groups VALUES ('y', 'ypsilon', 1)")
        inside = failure(lambda: cursor.execute("SELECT count(*) FROM groups").fetchall())
    def fails():
        with con.begin() as again:
            again.execute("DELETE FROM groups")
            again.execute("SELECT nothing")
    return [inside, failure(fails), con.execute(u().count())]


@test()
def changing_builtin_functions():
    @ibis.udf.scalar.builtin
    def repeat(text: str, n: int) -> str: ...

    @ibis.udf.scalar.builtin(name="add_one", database="public")
    def plus_one(n: int) -> int: ...

    @ibis.udf.agg.builtin
    def regr_slope(y: float, x: float) -> float: ...

    @ibis.udf.scalar.builtin(signature=(("int32", "int32"), "int32"))
    def gcd(a, b): ...

    con.raw_sql("CREATE FUNCTION add_one(n bigint) RETURNS bigint LANGUAGE sql AS 'SELECT n + 1'").close()
    return [con.execute(repeat("ab", 2)), con.execute(plus_one(i(4))), plain(con.execute(regr_slope(t().x, t().id.cast("float64")))), con.execute(gcd(12, 18)), shown(t().select("id", v=plus_one(t().id)).order_by("id"))]


@test()
def changing_function():
    con.raw_sql("CREATE FUNCTION twice(n bigint, t text) RETURNS text LANGUAGE sql AS $$ SELECT repeat(t, n::int) $$").close()
    twice = con.function("twice")
    return [con.execute(twice(i(2), s("ab"))), failure(lambda: con.function("no_such_function")), failure(lambda: con.function("abs")), con.execute(con.function("twice", database="public")(i(1), s("x")))]


@test()
def changing_python_function():
    @ibis.udf.scalar.python
    def thrice(n: int) -> int:
        return 3 * n
    return failure(lambda: con.execute(thrice(i(4))))[:2]


@test()
def changing_hstore():
    con.raw_sql("CREATE TABLE hs (id int, h hstore); INSERT INTO hs VALUES (1, 'a=>1, b=>NULL'), (2, NULL)").close()
    table = con.table("hs")
    return [str(table.schema()), failure(lambda: shown(table.order_by("id"))), failure(lambda: shown(con.sql("SELECT id, h -> 'a' AS a, akeys(h) AS k FROM hs").order_by("id"))), failure(lambda: shown(table.select("id", v=_.h["a"])))]


@test()
def changing_json_table():
    con.raw_sql("CREATE TABLE js (id int, j json, b jsonb); INSERT INTO js VALUES (1, '{\"a\": [1, 2], \"s\": \"x\"}', '{\"a\": {\"b\": 1.5}}'), (2, '[1]', 'null'), (3, NULL, NULL)").close()
    table = con.table("js").order_by("id")
    return [str(table.schema()), shown(table), shown(table.select("id", v=_.j["a"][1].int, s=_.j["s"].str, f=_.b["a"]["b"].float)), shown(table.select("id", l=_.j["a"].array.length())), failure(lambda: shown(table.filter(_.j["s"].str == "x").select("id")))]


@test()
def changing_to_sql():
    """Statements that Ibis prints, run as they are."""
    text = str(ibis.to_sql(t().group_by("g").agg(n=_.count(), x=_.x.sum()).order_by("g"), dialect="postgres"))
    return [text, str(con.raw_sql(text).fetchall()), str(con.compile(t().filter(_.id > 3).select("id")))]


# Reading

WAYS = {"execute": lambda expr: plain(con.execute(expr).to_dict("list")), "pandas": lambda expr: [[str(kind) for kind in expr.to_pandas().dtypes], plain(expr.to_pandas().to_dict("list"))], "pyarrow": lambda expr: [str(con.to_pyarrow(expr).schema), plain(con.to_pyarrow(expr).to_pylist())], "polars": lambda expr: [str(con.to_polars(expr).schema), plain(con.to_polars(expr).to_dict(as_series=False))],
        "batches": lambda expr: [[batch.num_rows, plain(batch.to_pylist())] for batch in con.to_pyarrow_batches(expr, chunk_size=3)], "pandas_batches": lambda expr: [len(frame) for frame in con.to_pandas_batches(expr, chunk_size=5)], "limit": lambda expr: plain(con.execute(expr, limit=2).to_dict("list"))}


@test(*WAYS)
def read_by(way):
    return WAYS[way](t().order_by("id"))


@test(*WAYS)
def read_empty(way):
    return WAYS[way](t().filter(_.id > 100).order_by("id"))


@test(*WAYS)
def read_large(way):
    return str(WAYS[way](con.sql("SELECT i AS id, i * 0.5 AS x, 'text ' || i AS s FROM generate_series(1, 3000) AS i").order_by("id")))[-300:]


@test("csv", "parquet", "json")
def read_into(form):
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "file")
        if form == "csv":
            con.to_csv(t().select("id", "g", "x").order_by("id"), name)
            with open(name) as file:
                return file.read()
        if form == "parquet":
            con.to_parquet(t().order_by("id"), name)
            import pyarrow.parquet
            return plain(pyarrow.parquet.read_table(name).to_pylist())
        return failure(lambda: con.to_json(t().order_by("id"), name))[:1]


@test("pandas", "pyarrow", "polars")
def read_params(form):
    least, name = ibis.param("int64"), ibis.param("string")
    expr = t().filter((_.id >= least) & (_.g == name)).select("id", "g").order_by("id")
    found = getattr(expr, f"to_{form}")(params={least: 2, name: "a"})
    return str(found.to_dict() if form == "pandas" else found.to_pylist() if form == "pyarrow" else found.to_dicts())


# Connections and catalogs

place = psycopg.conninfo.conninfo_to_dict(uri)


@test("url", "url_schema", "url_options", "arguments", "backend", "schema", "from_connection", "autocommit", "bad_database", "bad_port")
def connect(way):
    arguments = {"host": place["host"], "port": int(place["port"]), "user": place["user"], "database": place["dbname"]}
    def opened():
        if way == "url":
            return ibis.connect(uri)
        if way == "url_schema":
            return ibis.connect(uri + "/other")
        if way == "url_options":
            return ibis.connect(uri + "?application_name=ibis_suite&connect_timeout=5")
        if way == "arguments":
            return ibis.postgres.connect(**arguments)
        if way == "backend":
            return ibis.postgres.connect(**arguments, application_name="ibis_suite", options="-c work_mem=8MB")
        if way == "schema":
            return ibis.postgres.connect(**arguments, schema="other")
        if way == "from_connection":
            return ibis.postgres.from_connection(psycopg.connect(uri))
        if way == "autocommit":
            return ibis.postgres.connect(**arguments, autocommit=False)
        if way == "bad_database":
            return ibis.postgres.connect(**{**arguments, "database": "no_such_database"})
        return ibis.postgres.connect(**{**arguments, "port": 1, "connect_timeout": 2})
    if way.startswith("bad"):
        return [type(error_of(opened)).__name__, "does not exist" in str(error_of(opened))]
    opened = opened()
    seen = [opened.current_catalog, opened.current_database, opened.name, opened.raw_sql("SELECT current_setting('TimeZone'), current_setting('application_name'), current_setting('work_mem')").fetchall(), opened.version.split(".")[0], opened.list_tables()]
    opened.disconnect()
    return seen


def error_of(action):
    try:
        return action()
    except Exception as error:  # noqa: BLE001: any failure is one
        return error


@test()
def reconnect():
    other = ibis.connect(uri)
    first = other.execute(other.table("numbers").count())
    other.disconnect()
    other.reconnect()
    seen = [first, other.execute(other.table("numbers").count())]
    other.disconnect()
    return seen


CATALOG = {
    "tables": lambda: sorted(con.list_tables()), "tables_like": lambda: con.list_tables(like="num.*"), "tables_schema": lambda: con.list_tables(database="other"), "tables_catalog": lambda: sorted(con.list_tables(database=(con.current_catalog, "other"))), "tables_none": lambda: con.list_tables(database="no_such"), "tables_system": lambda: len(con.list_tables(database="information_schema")) > 50,
    "databases": lambda: sorted(name for name in con.list_databases() if "temp" not in name), "databases_like": lambda: con.list_databases(like="oth"), "catalogs": lambda: "ibis_suite" in con.list_catalogs(), "catalogs_like": lambda: con.list_catalogs(like="ibis_suite"), "current": lambda: [con.current_catalog, con.current_database], "schema": lambda: str(t().schema()), "schema_other": lambda: str(con.table("thing", database="other").schema()),
    "schema_view": lambda: str(con.table("numbers_view").schema()), "schema_materialized": lambda: [str(con.table("numbers_kept").schema()), shown(con.table("numbers_kept"))], "schema_partitioned": lambda: [str(con.table("parts").schema()), shown(con.table("parts"))], "schema_none": lambda: failure(lambda: con.table("no_such")), "schema_catalog": lambda: str(con.table("pg_class", database="pg_catalog").schema().names[:4]),
    "tables_property": lambda: sorted(con.tables)[:3], "query_catalog": lambda: shown(con.table("pg_class", database="pg_catalog").filter(_.relname == "numbers").select("relname", "relkind")), "query_information": lambda: shown(con.table("columns", database="information_schema").filter(_.table_name == "groups").select("column_name", "data_type", "ordinal_position").order_by("ordinal_position")), "supports": lambda: con.has_operation(ops.Sum),
    "sql_schema": lambda: str(con.sql("SELECT *, 1 AS one FROM numbers").schema()), "sql_error": lambda: failure(lambda: con.sql("SELECT no_column FROM numbers")), "sql_parameters": lambda: str(con.sql("SELECT count(*) AS n, max(x) FROM numbers").schema()), "upper_names": lambda: [str(con.table("Upper").schema()), shown(con.table("Upper"))]}
for key, look in CATALOG.items():
    TESTS[f"catalog_{key}"] = look

ERRORS = {
    "division": lambda: con.execute(i(1) // con.table("numbers").filter(_.id == 1).id.max().nullif(1).fill_null(0)), "cast": lambda: con.execute(s("abc").cast("int64")), "try_cast": lambda: con.execute(s("abc").try_cast("int64")), "overflow": lambda: con.execute(i(2 ** 63 - 1) + i(1)), "date": lambda: con.execute(s("2024-02-30").cast("date")), "sqrt": lambda: con.execute(f(-1.0).sqrt()), "log": lambda: con.execute(f(0.0).ln()),
    "regex": lambda: con.execute(s("a").re_search("(")), "overflow_small": lambda: con.execute(i(40000, "int32").cast("int16")), "json": lambda: con.execute(s("{").cast("json")), "uuid": lambda: con.execute(s("x").cast("uuid")), "date_bucket": lambda: con.execute(at().bucket(ibis.interval(months=1))), "subquery_rows": lambda: con.execute(con.sql("SELECT (SELECT id FROM numbers) AS v")),
    "kind_of_sum": lambda: con.execute(con.sql("SELECT sum(s) AS v FROM numbers")), "regexp_like": lambda: con.execute(con.sql("SELECT regexp_like('abc', 'B', 'i') AS v")), "unknown_function": lambda: con.execute(con.sql("SELECT no_such_function(1) AS v"))}
for key, wrong in ERRORS.items():
    TESTS[f"error_{key}"] = lambda wrong=wrong: failure(wrong)


SETUP = """
DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other; DROP SCHEMA IF EXISTS ibis_new CASCADE;
CREATE EXTENSION hstore; CREATE EXTENSION citext; CREATE EXTENSION fuzzystrmatch;
CREATE FUNCTION first_of(anyelement, anyelement) RETURNS anyelement IMMUTABLE STRICT LANGUAGE sql AS 'SELECT $1'; CREATE AGGREGATE first(anyelement) (SFUNC = first_of, STYPE = anyelement);
CREATE FUNCTION last_of(anyelement, anyelement) RETURNS anyelement IMMUTABLE STRICT LANGUAGE sql AS 'SELECT $2'; CREATE AGGREGATE last(anyelement) (SFUNC = last_of, STYPE = anyelement);
CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE numbers (id bigint PRIMARY KEY, g text, x float8, n numeric(10,2), s varchar(20) NOT NULL, d date, at timestamp);
INSERT INTO numbers VALUES (1, 'a', 2.5, 1.25, 'one', '2024-01-01', '2024-01-01 10:00'), (2, 'a', 5, 2.5, 'two', '2024-01-15', '2024-01-15 11:30'), (3, 'b', 7.5, NULL, 'three', '2024-02-01', '2024-02-01 00:00'),
   (4, 'b', 20, 4, 'four', '2024-02-10', '2024-02-10 23:59:59'), (5, 'c', 20, 5.75, 'five', NULL, '2024-02-28 12:00'), (6, 'a', NULL, 6, 'six', '2024-03-01', '2024-03-01 06:00'), (7, 'a', 10, 7, 'seven', '2024-03-02', '2024-03-02 06:00'), (8, NULL, 1.25, 8, 'eight', '2024-03-03', '2024-03-31 06:00');
CREATE TABLE groups (g text, name text, lo float8); INSERT INTO groups VALUES ('a', 'alpha', 1), ('b', 'beta', 5), ('d', 'delta', 15);
CREATE TABLE events (id int, kind text, symbol text, at timestamp); INSERT INTO events VALUES (1, 'buy', 'x', '2024-01-01 10:00'), (2, 'sell', 'x', '2024-01-01 11:00'), (3, 'buy', 'y', '2024-01-01 09:00'), (9, 'buy', 'y', '2024-01-02 00:00');
CREATE TABLE quotes (symbol text, at timestamp, price float8); INSERT INTO quotes VALUES ('x', '2024-01-01 09:30', 1.5), ('x', '2024-01-01 10:30', 2.5), ('y', '2024-01-01 12:00', 7);
CREATE TABLE lists (id int, a int[], b text[]); INSERT INTO lists VALUES (1, '{1,2}', '{x,y}'), (2, '{3}', '{}'), (3, '{}', '{z}'), (4, NULL, NULL);
CREATE VIEW numbers_view AS SELECT id, g, x * 2 AS x2 FROM numbers WHERE x IS NOT NULL; CREATE MATERIALIZED VIEW numbers_kept AS SELECT g, count(*) AS n FROM numbers GROUP BY g;
CREATE TABLE parts (a int, b text) PARTITION BY RANGE (a); CREATE TABLE parts_one PARTITION OF parts FOR VALUES FROM (0) TO (10); CREATE TABLE parts_two PARTITION OF parts DEFAULT; INSERT INTO parts VALUES (1, 'x'), (20, 'y');
CREATE TABLE other.thing (k int PRIMARY KEY, v jsonb); CREATE TABLE "Upper" ("Id" int, "Two Words" text); INSERT INTO "Upper" VALUES (1, 'x');
"""


def prepare():
    with psycopg.connect(uri, autocommit=True) as admin:
        admin.execute("SET client_min_messages = warning; SET lock_timeout = '20s'")
        admin.execute(SETUP)


prepare()
for test_name, run in chosen():
    if con is None or test_name.startswith("changing"):
        if con is not None:
            con.disconnect()
        if test_name.startswith("changing"):
            prepare()
        con = ibis.connect(uri)
        after_change = test_name.startswith("changing")
    elif after_change:
        con.disconnect()
        prepare()
        con, after_change = ibis.connect(uri), False
    if not report(test_name.removeprefix("changing_"), run):
        con.disconnect()
        con = ibis.connect(uri)
con.disconnect()
