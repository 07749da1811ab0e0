"""A statement keeps within memory_limit, whatever its operators do between two looks at it: EXPLAIN ANALYZE tells the most that each had."""
import re

from mistake import check

FILL = """CREATE TABLE rows AS SELECT g AS n, (g * 7919::bigint % 30000 + 1) * 1000003 AS k, g % 50 AS q,
          'a text that is not inline ' || g AS t FROM generate_series(1, 150000) g"""
QUERIES = {
    "join": "SELECT count(*), min(b.t) FROM rows a JOIN rows b ON a.n = b.n + 1",
    "join of few keys": "SELECT count(*), min(b.t) FROM rows a JOIN rows b ON a.k = b.k WHERE a.n < b.n",
    "aggregation": "SELECT sum(c) FROM (SELECT t, count(*) AS c FROM rows GROUP BY t) x",
    "states that are texts": "SELECT max(c) FROM (SELECT n, min(t || n) AS c FROM rows GROUP BY n) x",
    "distinct values": "SELECT sum(c) FROM (SELECT k, count(DISTINCT t) AS c FROM rows GROUP BY k) x",
    "ordered aggregates": "SELECT sum(length(c)) FROM (SELECT k, string_agg(t, ',' ORDER BY n) AS c FROM rows GROUP BY k) x",
    "grouping sets": "SELECT sum(c) FROM (SELECT n, k, q, count(*) AS c FROM rows GROUP BY GROUPING SETS ((n), (k, q), (q, n))) x",
    "sort": "SELECT max(n) FROM (SELECT n, t FROM rows ORDER BY t, n OFFSET 10) x",
    "window": "SELECT max(s) FROM (SELECT sum(n) OVER (PARTITION BY q ORDER BY t) AS s FROM rows) x",
    "window of small partitions": "SELECT max(s) FROM (SELECT lag(t) OVER (PARTITION BY k ORDER BY n) AS s FROM rows) x",
}
PAGE = 256 << 10 # the largest page of an operator
BATCHES = 2 << 20 # of two workers, and what expressions need: memory that no operator asks for


def keeps_its_limit(place):
    server = place.serve("--memory-limit", "256MB", "--threads", "2").wait_until_ready()
    place.others.append(server)
    server.sql(FILL)
    spilled = 0
    for name, query in QUERIES.items():
        for megabytes in (4, 6, 8, 12):
            told = server.sql(f"SET memory_limit = '{megabytes}MB'; EXPLAIN ANALYZE {query}")
            limit = megabytes << 20
            peak = int(re.search(r"Peak Memory: (\d+) kB", told).group(1)) << 10
            spilled += "Spill Rounds" in told
            check(peak <= limit + BATCHES, f"{name} takes {peak} bytes of {megabytes} MB:\n{told}")
            operators = re.findall(r"(\w+)  \(cost[^\n]*\n *Own Time: [^\n]* Memory: (\d+) kB", told)
            check(operators, f"{name}: no operator tells its memory:\n{told}")
            for operator, kilobytes in operators:
                # A join tells the sum of what its sides had at most, at different times.
                most = peak if operator == "Join" else int(kilobytes) << 10
                check(most <= limit + (BATCHES if operator == "Join" else PAGE), f"{name}: {operator} takes {most} bytes of {megabytes} MB:\n{told}")
    check(spilled > 2 * len(QUERIES), f"only {spilled} queries spill")
    server.stop()


TELLS = {"a statement keeps within its memory_limit": keeps_its_limit}
