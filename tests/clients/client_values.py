"""One value and more of every type, for a journey there and back."""
import datetime as dt
import decimal
import uuid

D = decimal.Decimal
UTC = dt.timezone.utc
# column: (SQL type, values)
COLUMNS = {
    "a_bool": ("boolean", [True, False]),
    "a_int2": ("int2", [-7, 32767]),
    "a_int4": ("int4", [2**31 - 1, -(2**31)]),
    "a_int8": ("int8", [-(2**63), 2**63 - 1]),
    "a_float4": ("float4", [1.5, -0.25]),
    "a_float8": ("float8", [0.1, 1e300]),
    "a_numeric": ("numeric", [D("-12345678901234567890.000123"), D("0")]),
    "a_numeric_12_2": ("numeric(12,2)", [D("1234567890.12"), D("-0.01")]),
    "a_text": ("text", ["Grüße, 世界 \\ '", ""]),
    "a_varchar": ("varchar(40)", ["tab\tnew\nline", "x"]),
    "a_char": ("char(4)", ["abc ", "abcd"]),
    "a_bytea": ("bytea", [bytes(range(256)), b""]),
    "a_date": ("date", [dt.date(1999, 12, 31), dt.date(1, 1, 1)]),
    "a_time": ("time", [dt.time(23, 59, 59, 999999), dt.time(0, 0)]),
    "a_timestamp": ("timestamp", [dt.datetime(2024, 2, 29, 12, 0, 0, 5), dt.datetime(1900, 1, 1)]),
    "a_timestamptz": ("timestamptz", [dt.datetime(2024, 7, 1, 12, 0, tzinfo=UTC), dt.datetime(1970, 1, 1, tzinfo=UTC)]),
    "a_interval": ("interval", [dt.timedelta(days=3, seconds=4, microseconds=5), dt.timedelta(0)]),
    "a_uuid": ("uuid", [uuid.UUID("01234567-89ab-cdef-0123-456789abcdef"), uuid.UUID(int=0)]),
}
NAMES = list(COLUMNS)
ROWS = [tuple(values[i] for _, values in COLUMNS.values()) for i in range(2)] + [(None,) * len(COLUMNS)]


def create(table):
    return f"DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (id int, " + ", ".join(f"{n} {k}" for n, (k, _) in COLUMNS.items()) + ")"


ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"
