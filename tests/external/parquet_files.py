#!/usr/bin/env python3
"""Parquet files that others write, spoilt ones, and reading that is stopped.

    parquet_files.py --binary BUILD/ouzel [--python PYTHON]

PYTHON has pyarrow (scripts/install-deps makes such an environment). Exit code 77: there is none."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from run_sql_tests import Server

WRITE = r"""
import pyarrow as pa, pyarrow.parquet as pq, datetime as dt, decimal, sys, uuid
D = decimal.Decimal
n = 10
def col(f, t): return pa.array([None if i % 5 == 4 else f(i) for i in range(n)], t)
when = lambda i: dt.datetime(1960 + 10 * i, 1, 2, 3, 4, 5, 678901)
flat = {
 'id': pa.array(range(n), pa.int32()),
 'b': col(lambda i: i % 2 == 0, pa.bool_()), 'i8': col(lambda i: i - 5, pa.int8()), 'u8': col(lambda i: 255 - i, pa.uint8()),
 'i16': col(lambda i: i * 1000, pa.int16()), 'u16': col(lambda i: 65535 - i, pa.uint16()),
 'i32': col(lambda i: -i * 100000, pa.int32()), 'u32': col(lambda i: 4294967295 - i, pa.uint32()),
 'i64': col(lambda i: i * 10**15, pa.int64()), 'u64': col(lambda i: 2**64 - 1 - i, pa.uint64()),
 'f16': pa.array([None if i % 5 == 4 else i / 2 for i in range(n)], pa.float32()).cast(pa.float16()),
 'f32': col(lambda i: i / 4, pa.float32()), 'f64': col(lambda i: i / 8, pa.float64()),
 'd9': col(lambda i: D(i) / 100, pa.decimal128(9, 2)), 'd18': col(lambda i: D(i) * 10**10, pa.decimal128(18, 4)),
 'd38': col(lambda i: D(-i) * 10**20, pa.decimal128(38, 5)),
 'date32': col(lambda i: dt.date(1990 + i * 5, 1, 2), pa.date32()), 'date64': col(lambda i: dt.date(1960 + i * 5, 1, 2), pa.date64()),
 'ts_s': col(when, pa.timestamp('s')), 'ts_ms': col(when, pa.timestamp('ms')), 'ts_us': col(when, pa.timestamp('us')),
 'ts_ns': pa.array([None if i % 5 == 4 else i * 10**9 - 1999 for i in range(n)], pa.timestamp('ns')),
 'tz': col(when, pa.timestamp('us', tz='Europe/Berlin')),
 't32': col(lambda i: dt.time(i, 1, 2, 3000), pa.time32('ms')), 't64': col(lambda i: dt.time(i, 1, 2, 3), pa.time64('us')),
 'dur': col(lambda i: dt.timedelta(hours=i), pa.duration('us')),
 's': col(lambda i: 'text %d \u00fc' % i * i, pa.string()), 'ls': col(lambda i: 'large text %d' % i, pa.large_string()),
 'sv': col(lambda i: 'view %d' % i, pa.string_view()), 'dict': col(lambda i: 'word %d' % (i % 2), pa.string()).dictionary_encode(),
 'bin': col(lambda i: bytes([i, 0, 255]), pa.binary()), 'fsb': col(lambda i: bytes([i, 1, 2, 3]), pa.binary(4)),
 'uuid': col(lambda i: uuid.UUID(int=i).bytes, pa.uuid()), 'json': col(lambda i: '{"a":%d}' % i, pa.json_()), 'nul': pa.nulls(n),
}
nested = {'lst': col(lambda i: [i, i + 1], pa.list_(pa.int32())), 'st': col(lambda i: {'x': i}, pa.struct([('x', pa.int32())])),
          'd50': col(lambda i: D(i), pa.decimal256(50, 0)), 'after': pa.array(range(n), pa.int32())}
pq.write_table(pa.table(flat), sys.argv[1] + '/types.parquet')
pq.write_table(pa.table({**flat, **nested}), sys.argv[1] + '/nested.parquet')
for v, options in enumerate([dict(version='1.0'), dict(version='2.6', data_page_version='2.0'), dict(use_dictionary=False),
                             dict(compression='zstd', write_page_index=True), dict(compression='none', row_group_size=3),
                             dict(write_statistics=False, store_schema=False), dict(write_page_checksum=True),
                             dict(use_deprecated_int96_timestamps=True, row_group_size=4)]):
    some = {k: flat[k] for k in ('id', 'i64', 's', 'd9', 'd38', 'ts_us', 'date32', 'b')}
    pq.write_table(pa.table(some), sys.argv[1] + '/variant%d.parquet' % v, **options)
big = 3000000
pq.write_table(pa.table({'a': pa.array(range(big), pa.int64()), 's': pa.array(['row %d' % (i % 1000) for i in range(big)])}),
               sys.argv[1] + '/big.parquet', row_group_size=200000)
"""

ROW3 = ("3|f|-2|252|3000|65532|-300000|4294967292|3000000000000000|18446744073709551612|1.5|0.75|0.375|0.03|30000000000.0000|"
        "-300000000000000000000.00000|2005-01-02|1975-01-02|1990-01-02 03:04:05|1990-01-02 03:04:05.678|"
        "1990-01-02 03:04:05.678901|1970-01-01 00:00:02.999998|1990-01-02 03:04:05.678901+00|03:01:02.003|03:01:02.000003|"
        "03:00:00|text 3 \u00fctext 3 \u00fctext 3 \u00fc|large text 3|view 3|word 1|\\x0300ff|\\x03010203|"
        "00000000-0000-0000-0000-000000000003|{\"a\":3}|NULL")

failures = 0


def check(what, good, detail=""):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what} {detail}", flush=True)


class Client:
    def __init__(self, server):
        self.command = ["psql", "-X", "-q", "-A", "-t", "-P", "null=NULL", server.conninfo()]

    def __call__(self, sql):
        done = subprocess.run(self.command, input=sql, capture_output=True, text=True, timeout=120)
        return done.stdout.strip(), done.stderr.strip()


def types(sql, home):
    out, error = sql(f"SELECT * FROM read_parquet('{home}/types.parquet') WHERE id = 3")
    check("types", out == ROW3, f"{out} {error}")
    out, _ = sql(f"SELECT * FROM read_parquet('{home}/types.parquet') WHERE id = 4")
    check("nulls", out == "4" + "|NULL" * 34, out)
    for column, why in (("lst", "list"), ("st", "struct"), ("d50", "decimal256(50, 0)")):
        _, error = sql(f"SELECT {column} FROM read_parquet('{home}/nested.parquet')")
        check("nested", f'column "{column}"' in error and why in error, error)
    out, _ = sql(f"SELECT sum(after), max(json::text) FROM read_parquet('{home}/nested.parquet') WHERE after > 2")
    check("beside nested", out == '42|{"a":8}', out)
    want, _ = sql(f"SELECT id, i64, s, d9, d38, ts_us, date32, b FROM read_parquet('{home}/types.parquet') ORDER BY id")
    for name in sorted(os.listdir(home)):
        if name.startswith("variant"):
            got, error = sql(f"SELECT id, i64, s, d9, d38, ts_us, date32, b FROM read_parquet('{home}/{name}') ORDER BY id")
            check(name, got == want, error or got)
            got, error = sql(f"SELECT count(*) FROM read_parquet('{home}/{name}') WHERE id BETWEEN 3 AND 6 AND (s > 'a' OR i64 IS NULL) "
                             "AND ts_us < '3000-01-01' AND d9 >= 0")
            check(name + " pruned", got == "3", error or got)


def spoilt(sql, server, home, seed):
    """Whatever a file holds, the answer is rows or an error, and the server lives."""
    chance = random.Random(seed)
    good = open(home + "/types.parquet", "rb").read()
    path = home + "/spoilt.parquet"
    for length in [0, 1, 4, 8, 11, 12] + [chance.randrange(len(good)) for _ in range(30)]:
        open(path, "wb").write(good[:length])
        out, error = sql(f"SELECT * FROM read_parquet('{path}')")
        check("truncated", not out and "spoilt.parquet" in error, f"length {length}: {out[:80]} {error}")
    for attempt in range(150):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        open(path, "wb").write(data)
        _, error = sql(f"SELECT * FROM read_parquet('{path}');\nSELECT count(*) FROM read_parquet('{path}') WHERE id > 3 AND d38 < 0 AND s <> 'x'")
        alive = "server closed" not in error and server.process.poll() is None
        check("spoilt", alive, f"seed {seed} attempt {attempt}: {error}")
        if not alive:
            shutil.copy(path, "/tmp/ouzel-spoilt.parquet")
            return


def stopped(sql, home):
    begin = time.time()
    _, error = sql("SET statement_timeout = 150;\n"
                   f"SELECT count(*) FROM read_parquet('{home}/big.parquet') a, generate_series(1, 100000) g WHERE a.a + g < 0")
    check("timeout", "statement timeout" in error and time.time() - begin < 10, error)
    out, error = sql(f"SELECT count(*), sum(a), count(DISTINCT s) FROM read_parquet('{home}/big.parquet')")
    check("afterwards", out == "3000000|4499998500000|1000", out + error)
    out, error = sql(f"SET memory_limit = '32MB';\nSELECT count(*), sum(a), min(s) FROM read_parquet('{home}/big.parquet')")
    check("little memory", out == "3000000|4499998500000|row 0", out + error)
    out, _ = sql(f"EXPLAIN ANALYZE SELECT max(s) FROM read_parquet('{home}/big.parquet') WHERE a BETWEEN 250000 AND 450000")
    check("pruning", "Row Groups: 2\n" in out and "Row Groups Skipped: 13\n" in out and "Columns: a, s\n" in out, out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--python", default=os.path.join(os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")), "ouzel/arrow/bin/python"))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not os.path.exists(args.python):
        print("no Python with pyarrow")
        return 77
    home = tempfile.mkdtemp(prefix="ouzel-parquet-")
    subprocess.run([args.python, "-c", WRITE, home], check=True)
    server = Server(os.path.relpath(os.path.dirname(os.path.abspath(args.binary)), ROOT))
    server.start()
    try:
        sql = Client(server)
        if "no Parquet support" in sql(f"SELECT * FROM read_parquet('{home}/types.parquet')")[1]:
            print("this build has no Parquet support")
            return 77
        types(sql, home)
        stopped(sql, home)
        spoilt(sql, server, home, args.seed)
        check("the server stops", server.stop() == 0)
    finally:
        server.stop()
        server.remove()
        shutil.rmtree(home, ignore_errors=True)
    print("failed" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
