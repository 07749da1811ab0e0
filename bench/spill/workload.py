"""Queries that need more memory than there is. Each returns few rows, however much it materialises."""

REST = {"l_orderkey", "l_partkey", "l_suppkey", "l_linenumber", "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus",
        "l_shipdate", "l_commitdate", "l_receiptdate", "l_shipinstruct", "l_shipmode", "l_comment"}
# DuckDB's thirteen groupings, by falling reduction. Wide ones take min() where the paper has any_value(), which PostgreSQL 15 lacks.
GROUPINGS = ["l_returnflag, l_linestatus", "l_partkey", "l_partkey, l_returnflag, l_linestatus", "l_suppkey, l_partkey", "l_orderkey",
             "l_orderkey, l_returnflag, l_linestatus", "l_suppkey, l_partkey, l_returnflag, l_linestatus", "l_suppkey, l_partkey, l_shipinstruct",
             "l_suppkey, l_partkey, l_shipmode", "l_suppkey, l_partkey, l_shipinstruct, l_shipmode", "l_orderkey, l_partkey", "l_orderkey, l_suppkey",
             "l_suppkey, l_partkey, l_orderkey"]

AGGREGATE = """SELECT count(*), min(a), min(b) FROM (SELECT l_orderkey, l_partkey, min(l_shipinstruct) a, min(l_comment) b
               FROM lineitem GROUP BY l_orderkey, l_partkey) t"""
JOIN = """SELECT count(*), min(l_shipinstruct), min(l_comment), min(ps_comment) FROM lineitem, partsupp
          WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey"""
DISTINCT = "SELECT count(DISTINCT l_comment), count(DISTINCT l_orderkey) FROM lineitem"

SORTS = {"sort-key": "SELECT l_orderkey, l_linenumber, l_quantity FROM lineitem ORDER BY l_partkey, l_suppkey, l_orderkey, l_linenumber OFFSET {last}",
         "sort-wide": "SELECT * FROM lineitem ORDER BY l_shipdate, l_orderkey, l_linenumber OFFSET {last}",
         "sort-text": "SELECT l_orderkey, l_linenumber FROM lineitem ORDER BY l_comment, l_orderkey, l_linenumber OFFSET {last}"}
WINDOWS = {"window-rank": """SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY l_partkey ORDER BY l_shipdate, l_orderkey, l_linenumber) r
                             FROM lineitem) t""",
           "window-sum": """SELECT max(s), count(*) FROM (SELECT sum(l_quantity) OVER (PARTITION BY l_suppkey ORDER BY l_orderkey, l_linenumber) s
                            FROM lineitem) t""",
           "window-lag": """SELECT count(*) FROM (SELECT l_comment, lag(l_comment) OVER (ORDER BY l_orderkey, l_linenumber) p FROM lineitem) t
                            WHERE l_comment < p"""}


def queries(names, count, tpch):
    """(name, SQL) for each name or group of names; `count(sql)` gives how many rows a query has, `tpch` has TPC-H's by number."""
    groups = {"micro": ["aggregate", "join", "distinct"], "thin": [f"thin{i}" for i in range(1, 14)], "wide": [f"wide{i}" for i in range(1, 14)],
              "sort": list(SORTS), "window": list(WINDOWS), "tpch": [f"q{n}" for n in range(1, 23)]}
    for name in [n for given in names for n in groups.get(given, [given])]:
        if name in ("aggregate", "join", "distinct"):
            yield name, {"aggregate": AGGREGATE, "join": JOIN, "distinct": DISTINCT}[name]
        elif name in SORTS:
            yield name, SORTS[name].format(last=count("SELECT 1 FROM lineitem") - 1)
        elif name in WINDOWS:
            yield name, WINDOWS[name]
        elif name.startswith(("thin", "wide")):
            keys = GROUPINGS[int(name[4:]) - 1]
            groups_there = count(f"SELECT DISTINCT {keys} FROM lineitem")
            others = [f"min({c})" for c in sorted(REST - set(keys.split(", ")))] if name.startswith("wide") else []
            yield name, f"SELECT {', '.join([keys] + others)} FROM lineitem GROUP BY {keys} OFFSET {groups_there - 1}"
        elif name.startswith("q"):
            yield name, tpch[int(name[1:])]
        else:
            raise SystemExit(f"there is no query {name}")
