"""No operator asks the allocator once per row: a query over three times as many rows asks hardly more often."""
import re

from mistake import check

FEW, MANY = 100_000, 300_000
FILL = f"""CREATE TABLE few AS SELECT g AS n, g * 7919::bigint % 1000003 AS k, g % 50 AS q, 'a text that is not inline ' || g AS t
           FROM generate_series(1, {FEW}) g;
           CREATE TABLE many AS SELECT g AS n, g * 7919::bigint % 1000003 AS k, g % 50 AS q, 'a text that is not inline ' || g AS t
           FROM generate_series(1, {MANY}) g;
           CREATE TABLE target (LIKE few)"""
QUERIES = {
    "scan": "SELECT count(*), min(n) FROM {rows} WHERE t LIKE '%99%'",
    "expressions": "SELECT max(length(upper(t) || n::text)), sum(n::numeric * 1.5) FROM {rows}",
    "join": "SELECT count(*), min(b.t) FROM {rows} a JOIN {rows} b ON a.n = b.n",
    "nested loop": "SELECT count(*), min(b.t) FROM {rows} a JOIN (SELECT * FROM few WHERE n <= 20) b ON a.n < b.n * 10",
    "aggregation": "SELECT count(*), max(m) FROM (SELECT n, min(t) AS m, sum(q::numeric) FROM {rows} GROUP BY n) x",
    "distinct": "SELECT count(DISTINCT t) FROM {rows}",
    "sort": "SELECT n FROM {rows} ORDER BY t OFFSET 99999 LIMIT 1",
    "window": "SELECT max(s) FROM (SELECT sum(n) OVER (PARTITION BY q ORDER BY t) AS s FROM {rows}) x",
    "result": "SELECT n, t FROM {rows}",
    "insert": "INSERT INTO target SELECT * FROM {rows}",
}
# Pages, batches, row groups and blocks ask, mostly each for hundreds of rows. A merge of many runs in little memory gives batches of some rows.
CALLS_PER_ROW_MAX = 0.35


def requests(place, query, memory):
    """How often a server asks the allocator that runs this query."""
    server = place.serve("--memory-limit", "256MB", "--threads", "2",
                         environment={"MALLOC_CONF": "stats_print:true,stats_print_opts:axbl"}).wait_until_ready()
    place.others.append(server)
    server.sql(f"SET memory_limit = '{memory}'; {query}")
    server.stop()
    told = server.stderr.split("Merged arenas stats:")
    check(len(told) == 2, f"the allocator tells nothing:\n{server.stderr}")
    # A line is: bytes allocated, allocations, frees, requests, each count with its rate.
    return int(re.search(r"^total: +(.*)$", told[1], re.MULTILINE).group(1).split()[5])


def asks_per_batch(place):
    server = place.serve("--memory-limit", "256MB").wait_until_ready()
    place.others.append(server)
    server.sql(FILL)
    server.sql("CHECKPOINT")
    server.stop()
    for memory in ("256MB", "6MB"): # the rows of most queries fit into the first, and into the second none
        for name, query in QUERIES.items():
            few, many = (requests(place, query.format(rows=rows), memory) for rows in ("few", "many"))
            perRow = (many - few) / (MANY - FEW)
            check(perRow < CALLS_PER_ROW_MAX, f"{name} at {memory} asks the allocator {perRow:.3f} times per row ({few} and {many} times)")


TELLS = {"no query asks the allocator for each row": asks_per_batch}
