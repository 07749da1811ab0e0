"""The Star Schema Benchmark's five tables and 13 queries, made from a seed with the distributions of its dbgen (those of TPC-H, prices in cents).

Orders have one to seven lines, keys that use 8 of each 32, dates from 1992-01-01 to 1998-08-02 in no order, and customers whose key three does
not divide; quantity 1 to 50, discount 0 to 10, tax 0 to 8, all uniform. Not as there: addresses and the names of parts are plain words, and the
fillers of the calendar (seasons, holidays) are simple."""
import datetime
import math
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

HERE = os.path.dirname(os.path.abspath(__file__))
CHUNK = 500_000  # orders
REGIONS = {"AFRICA": "ALGERIA,ETHIOPIA,KENYA,MOROCCO,MOZAMBIQUE", "AMERICA": "ARGENTINA,BRAZIL,CANADA,PERU,UNITED STATES",
           "ASIA": "CHINA,INDIA,INDONESIA,JAPAN,VIETNAM", "EUROPE": "FRANCE,GERMANY,ROMANIA,RUSSIA,UNITED KINGDOM",
           "MIDDLE EAST": "EGYPT,IRAN,IRAQ,JORDAN,SAUDI ARABIA"}
NATIONS = [(nation, region) for region, names in REGIONS.items() for nation in names.split(",")]
COLORS = ("almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral "
          "cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot "
          "indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive "
          "orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke "
          "snow spring steel tan thistle tomato turquoise violet wheat white yellow").split()
TYPES = [f"{a} {b} {c}" for a in "STANDARD SMALL MEDIUM LARGE ECONOMY PROMO".split() for b in "ANODIZED BURNISHED PLATED POLISHED BRUSHED".split()
         for c in "TIN NICKEL BRASS STEEL COPPER".split()]
CONTAINERS = [f"{a} {b}" for a in "SM LG MED JUMBO WRAP".split() for b in "CASE BOX BAG JAR PKG PACK CAN DRUM".split()]
SEGMENTS = "AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD".split()
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI", "5-LOW"]
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
FIRST_DAY, ORDER_DAYS = datetime.date(1992, 1, 1), 2406

TABLES = {name: [column.split() for column in columns.split(", ")] for name, columns in {
    "date": "d_datekey int, d_date text, d_dayofweek text, d_month text, d_year int, d_yearmonthnum int, d_yearmonth text, d_daynuminweek int, "
            "d_daynuminmonth int, d_daynuminyear int, d_monthnuminyear int, d_weeknuminyear int, d_sellingseason text, d_lastdayinweekfl int, "
            "d_lastdayinmonthfl int, d_holidayfl int, d_weekdayfl int",
    "customer": "c_custkey int, c_name text, c_address text, c_city text, c_nation text, c_region text, c_phone text, c_mktsegment text",
    "supplier": "s_suppkey int, s_name text, s_address text, s_city text, s_nation text, s_region text, s_phone text",
    "part": "p_partkey int, p_name text, p_mfgr text, p_category text, p_brand1 text, p_color text, p_type text, p_size int, p_container text",
    "lineorder": "lo_orderkey int, lo_linenumber int, lo_custkey int, lo_partkey int, lo_suppkey int, lo_orderdate int, lo_orderpriority text, "
                 "lo_shippriority int, lo_quantity int, lo_extendedprice int, lo_ordtotalprice int, lo_discount int, lo_revenue int, "
                 "lo_supplycost int, lo_tax int, lo_commitdate int, lo_shipmode text"}.items()}
KEYS = {"date": "d_datekey", "customer": "c_custkey", "supplier": "s_suppkey", "part": "p_partkey", "lineorder": "lo_orderkey, lo_linenumber"}


def calendar():
    """The rows of seven years."""
    for i in range((datetime.date(1999, 1, 1) - FIRST_DAY).days):
        d = FIRST_DAY + datetime.timedelta(i)
        in_year, week_day, next_day = d.timetuple().tm_yday, d.isoweekday() % 7 + 1, d + datetime.timedelta(1)
        season = "Christmas" if d.month > 10 else "Summer" if 5 <= d.month <= 8 else "Winter" if d.month < 4 else "Fall" if d.month > 8 else "Spring"
        yield (int(d.strftime("%Y%m%d")), d.strftime("%B ") + f"{d.day}, {d.year}", d.strftime("%A"), d.strftime("%B"), d.year, d.year * 100 + d.month,
               d.strftime("%b%Y"), week_day, d.day, in_year, d.month, (in_year - 1) // 7 + 1, season, int(week_day == 7), int(next_day.day == 1),
               int((d.month, d.day) in ((1, 1), (7, 4), (12, 25))), int(week_day not in (1, 7)))


def persons(rng, prefix, count):
    """The columns that customers and suppliers have in common."""
    key, nation, digit = np.arange(1, count + 1), rng.integers(0, 25, count), rng.integers(0, 10, count)
    cities = [f"{name[:9]:9}{d}" for name, _ in NATIONS for d in range(10)]
    words = rng.integers(0, len(COLORS), (count, 3))
    phone = rng.integers(100, 1000, (count, 2))
    last = rng.integers(1000, 10000, count)
    return [key, [f"{prefix}#{k:09}" for k in key], [f"{COLORS[a]} {COLORS[b]} {COLORS[c]}"[:25] for a, b, c in words],
            take(cities, nation * 10 + digit), take([n for n, _ in NATIONS], nation), take([r for _, r in NATIONS], nation),
            [f"{10 + n}-{a}-{b}-{c}" for n, (a, b), c in zip(nation, phone, last)]]


def take(choices, indexes):
    return pa.array(choices).take(pa.array(indexes))


def price(partkey):
    """Retail, in cents."""
    return 90000 + partkey // 10 % 20001 + 100 * (partkey % 1000)


def orders(rng, first, count, customers, parts, suppliers, date_keys):
    """The lines of `count` orders."""
    number = np.arange(first, first + count)
    order_key = number // 8 * 32 + number % 8 + 1
    customer = rng.integers(0, customers // 3, count) * 3 + rng.integers(1, 3, count)
    day, priority, lines = rng.integers(0, ORDER_DAYS, count), rng.integers(0, 5, count), rng.integers(1, 8, count)
    order = np.repeat(np.arange(count), lines)
    n = len(order)
    start = np.concatenate(([0], np.cumsum(lines)[:-1]))
    part, quantity, discount, tax = rng.integers(1, parts + 1, n), rng.integers(1, 51, n), rng.integers(0, 11, n), rng.integers(0, 9, n)
    extended = price(part) * quantity
    total = np.add.reduceat(extended * (100 - discount) // 100 * (100 + tax) // 100, start)
    return [order_key[order], np.arange(n) - start[order] + 1, customer[order], part, rng.integers(1, suppliers + 1, n), date_keys[day[order]],
            take(PRIORITIES, priority[order]), np.zeros(n, np.int64), quantity, extended, total[order], discount, extended * (100 - discount) // 100,
            price(part) * 6 // 10, tax, date_keys[day[order] + rng.integers(30, 91, n)], take(MODES, rng.integers(0, 7, n))]


class Ssb:
    name, tables, keys = "ssb", TABLES, KEYS

    def __init__(self, scale, seed):
        self.scale, self.seed = scale, seed

    def label(self):
        return f"ssb-{self.scale:g}-{self.seed}"

    def generate(self, directory):
        def write(table, number, columns):
            schema = pa.schema([(name, pa.int32() if kind == "int" else pa.string()) for name, kind in TABLES[table]])
            columns = [pa.array(column).cast(field.type) for column, field in zip(columns, schema)]
            parquet.write_table(pa.Table.from_arrays(columns, schema=schema), os.path.join(directory, f"{table}-{number:03}.parquet"), store_schema=False)

        days = list(zip(*calendar()))
        customers, suppliers = max(3, int(30_000 * self.scale)), max(1, int(2_000 * self.scale))
        parts = int(200_000 * (1 + math.floor(math.log2(self.scale)))) if self.scale >= 1 else max(1, int(200_000 * self.scale))
        write("date", 0, days)
        rng = np.random.default_rng((self.seed, 0))
        write("customer", 0, persons(rng, "Customer", customers) + [take(SEGMENTS, rng.integers(0, 5, customers))])
        write("supplier", 0, persons(rng, "Supplier", suppliers))
        category, color = rng.integers(0, 25, parts), rng.integers(0, len(COLORS), (parts, 2))
        categories = [f"MFGR#{m}{c}" for m in range(1, 6) for c in range(1, 6)]
        write("part", 0, [np.arange(1, parts + 1), [f"{COLORS[a]} {COLORS[b]}" for a, b in color], take([c[:6] for c in categories], category),
                          take(categories, category), take([f"{c}{b}" for c in categories for b in range(1, 41)], category * 40 + rng.integers(0, 40, parts)),
                          take(COLORS, color[:, 0]), take(TYPES, rng.integers(0, 150, parts)), rng.integers(1, 51, parts), take(CONTAINERS, rng.integers(0, 40, parts))])
        total = int(1_500_000 * self.scale)
        for first in range(0, total, CHUNK):
            rng = np.random.default_rng((self.seed, 1 + first))
            write("lineorder", first // CHUNK, orders(rng, first, min(CHUNK, total - first), customers, parts, suppliers, np.array(days[0])))

    def queries(self):
        with open(os.path.join(HERE, "queries.sql")) as file:
            return file.read()
