"""Six tables like those of IMDb that JOB-light joins (Kipf et al. 2019, "Learned Cardinalities"), and 70 star joins of its shape.

IMDb's data are not ours to ship, so the tables are made from a seed; scale 1 has about as many rows as the Join Order Benchmark's copy of IMDb:
title 2.5 million, movie_companies 2.6, cast_info 36, movie_info 15, movie_info_idx 1.4, movie_keyword 4.5. Columns are those that JOB-light
reads and the row's own id; nothing is NULL. What is skewed or correlated, and how (u is uniform between 0 and 1):

* title.kind_id: seven kinds with IMDb's shares, 61 % episodes, 26 % movies.
* title.production_year depends on the kind: last - (last - first) * u^p, movies from 1880, video games from 1985, episodes crowded after 1990.
* A title has a fame, lognormal, and higher in later years. Every table has more rows of titles with more fame, so the tables' fan-outs are correlated
  with one another and with the year.
* cast_info: the mean depends on the kind, an episode has a quarter of a movie's. Half of the entries have the role of their person, the
  others one by the kind. The person is one of the title's era of 20 years, rank = n * u^3. The table lies in the order of persons.
* movie_companies.company_id: two thirds from companies that work for one kind, the others from all; weights 1 / (rank + 10).
  company_type_id: the share of distributors falls with the kind and rises with the year.
* movie_info.info_type_id: 1 to 110, weights 1 / (rank + 1)^1.3, ranked in another order for each kind.
* movie_info_idx: votes, distribution and rating (99 to 101) of titles with enough fame, 112 and 113 for 0.01 % of them.
* movie_keyword: of two in five movies and few others. keyword_id: half from keywords of the title's era, weights 1 / (rank + 5).

The 70 queries are drawn from the seed: two to five tables in JOB-light's proportion, one to four predicates, whose constants are those of a title that has
rows in all tables. So no answer is empty. A count is between 1 and a billion times the scale."""
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

CHUNK = 4_000_000  # rows of a file
TITLES, COMPANIES, PERSONS, KEYWORDS = 2_528_000, 235_000, 4_000_000, 134_000  # at scale 1
LAST_YEAR, ERA_YEARS, ERAS = 2013, 20, 7
TABLES = {name: [column.split() for column in columns.split(", ")] for name, columns in {
    "title": "id int, kind_id int, production_year int",
    "movie_companies": "id int, movie_id int, company_id int, company_type_id int",
    "cast_info": "id int, person_id int, movie_id int, role_id int",
    "movie_info": "id int, movie_id int, info_type_id int",
    "movie_info_idx": "id int, movie_id int, info_type_id int",
    "movie_keyword": "id int, movie_id int, keyword_id int"}.items()}
KEYS = {name: "id" for name in TABLES}

# By kind: movie, series, television movie, video movie, (none), video game, episode.
KIND_SHARES = np.array([26.2, 3.6, 4.0, 4.6, 0.0, 0.6, 61.0])
FIRST_YEAR = np.array([1880, 1932, 1932, 1965, 1990, 1985, 1940])
YEAR_POWER = np.array([1.6, 1.5, 1.3, 2.0, 1.0, 1.5, 2.6])
CAST_MEAN = np.array([30.0, 16.0, 20.0, 18.0, 1.0, 10.0, 8.0])
COMPANY_MEAN = np.array([2.3, 1.4, 1.3, 1.3, 0.1, 1.7, 0.5])
INFO_MEAN = np.array([13.5, 9.0, 9.0, 8.0, 1.0, 6.0, 2.7])
KEYWORD_SHARE = np.array([0.4, 0.2, 0.15, 0.2, 0.1, 0.3, 0.07])
DISTRIBUTOR_SHARE = np.array([0.75, 0.5, 0.4, 0.6, 0.5, 0.5, 0.3])
RATED_ABOVE = np.array([0.9, 0.8, 1.1, 1.3, 2.0, 1.2, 2.4])  # of fame
# Roles 1 to 11: actor, actress, producer, writer, cinematographer, composer, costume designer, director, editor, miscellaneous crew, designer.
ROLE_SHARES = np.array([[33, 19, 8, 8, 4, 4, 2, 5, 4, 12, 1], [40, 25, 15, 8, 1, 2, 1, 1, 1, 6, 0], [38, 22, 8, 8, 3, 3, 1, 6, 3, 7, 1],
                        [35, 35, 6, 4, 2, 2, 0, 7, 3, 6, 0], [1] * 11, [50, 15, 8, 6, 1, 6, 0, 4, 1, 9, 0], [30, 18, 18, 14, 2, 3, 1, 6, 5, 3, 0]])

ALIASES = {"title": "t", "movie_companies": "mc", "cast_info": "ci", "movie_info": "mi", "movie_info_idx": "mi_idx", "movie_keyword": "mk"}
QUERIES_BY_TABLES = {2: 3, 3: 32, 4: 23, 5: 12}
LARGEST_COUNT = 1e9  # at scale 1
# The columns that predicates read, with their operators.
COLUMNS = {"title": [("production_year", ["=", ">", "<", "between"]), ("kind_id", ["="])],
           "movie_companies": [("company_id", ["="]), ("company_type_id", ["="])], "cast_info": [("role_id", ["="]), ("person_id", ["<", ">"])],
           "movie_info": [("info_type_id", ["="])], "movie_info_idx": [("info_type_id", ["=", ">", "<"])],
           "movie_keyword": [("keyword_id", ["=", "<", ">"])]}


def weighted(rng, weights, count):
    """Indexes, each with the probability of its share of the weights."""
    sums = np.cumsum(weights)
    return np.searchsorted(sums / sums[-1], rng.random(count), side="right").clip(0, len(weights) - 1)


def by_kind(rng, kind, shares):
    """An index for each row, weighted by the row of `shares` that its kind has."""
    result = np.zeros(len(kind), np.int64)
    for k in range(len(shares)):
        rows = np.flatnonzero(kind == k)
        result[rows] = weighted(rng, shares[k], len(rows))
    return result


def zipf(rng, n, offset, count):
    """Ranks below n with weights 1 / (rank + offset), by the inverse of their integral."""
    return ((n + offset) / offset) ** rng.random(count) * offset - offset


def scattered(rank, n, salt):
    """A rank as a number between 1 and n that does not tell it."""
    step = next(s for s in range(int(n * 0.618) + 1 + 2 * salt, 3 * n + 4 * salt + 4) if np.gcd(s, n) == 1)
    return rank.astype(np.int64) % n * step % n + 1


class Titles:
    """The title table, and what the other tables' rows depend on: kinds from 0, eras, fame."""

    def __init__(self, rng, scale):
        n = self.count = max(100, int(TITLES * scale))
        self.kind = weighted(rng, KIND_SHARES, n)
        first = FIRST_YEAR[self.kind]
        self.year = (LAST_YEAR - (LAST_YEAR - first) * rng.random(n) ** YEAR_POWER[self.kind]).astype(np.int64)
        self.era = (LAST_YEAR - self.year) // ERA_YEARS
        self.fame = np.exp(rng.normal(-0.4, 0.9, n)) * np.clip(1.2 - 0.15 * self.era, 0.3, None)

    def fan_out(self, rng, means, power):
        """The number of a title's rows in a table: their titles, one for each row."""
        fame = self.fame ** power
        return np.repeat(np.arange(self.count), rng.poisson(means[self.kind] * fame / fame.mean()))


def companies(rng, titles, scale):
    n, movie = max(50, int(COMPANIES * scale)), titles.fan_out(rng, COMPANY_MEAN, 0.7)
    kind = titles.kind[movie]
    rank = zipf(rng, n, 10, len(movie)).astype(np.int64)
    rank = np.where(rng.random(len(movie)) < 2 / 3, rank // 7 * 7 + kind, rank)
    distributes = rng.random(len(movie)) < DISTRIBUTOR_SHARE[kind] - 0.08 * titles.era[movie]
    return movie + 1, scattered(rank, n, 1), 1 + distributes


def cast(rng, titles, scale):
    n, movie = max(ERAS * 10, int(PERSONS * scale) // ERAS * ERAS), titles.fan_out(rng, CAST_MEAN, 1.0)
    person = (n // ERAS * rng.random(len(movie)) ** 3).astype(np.int64) * ERAS + titles.era[movie]
    kind = titles.kind[movie]
    # The person's own role is a function of the person, weighted as in movies.
    sums = np.cumsum(ROLE_SHARES[0])
    own = np.searchsorted(sums / sums[-1], person * 0.6180339887 % 1, side="right")
    role = np.where(rng.random(len(movie)) < 0.5, own, by_kind(rng, kind, ROLE_SHARES))
    person = scattered(person, n, 2)
    order = np.argsort(person, kind="stable")
    return person[order], movie[order] + 1, role[order] + 1


def infos(rng, titles):
    movie = titles.fan_out(rng, INFO_MEAN, 0.8)
    weights = 1 / np.arange(1, 111) ** 1.3
    orders = [np.random.default_rng((7, k)).permutation(110) for k in range(7)]
    for order in orders: order[:3] = [i for i in (15, 2, 7)]  # release dates, genres and countries are everywhere
    rank = weighted(rng, weights, len(movie))
    return movie + 1, np.array(orders)[titles.kind[movie], rank] + 1


def ratings(rng, titles):
    rated = np.flatnonzero(titles.fame > RATED_ABOVE[titles.kind] * rng.uniform(0.7, 1.4, titles.count))
    movie, info = np.repeat(rated, 3), np.tile([99, 100, 101], len(rated))
    best = rated[rng.random(len(rated)) < 0.0005]
    return np.concatenate((movie, best)) + 1, np.concatenate((info, rng.choice([112, 113], len(best))))


def keywords(rng, titles, scale):
    n = max(ERAS * 10, int(KEYWORDS * scale) // ERAS * ERAS)
    has = rng.random(titles.count) < np.clip(KEYWORD_SHARE[titles.kind] * titles.fame ** 0.5 * 1.3, 0, 0.95)
    fame = np.where(has, titles.fame, 0)
    movie = np.repeat(np.arange(titles.count), rng.poisson(np.where(has, 8 * fame ** 0.6, 0)))
    rank = zipf(rng, n, 5, len(movie)).astype(np.int64)
    rank = np.where(rng.random(len(movie)) < 0.5, rank // ERAS * ERAS + titles.era[movie], rank)
    return movie + 1, scattered(rank, n, 3)


def tables(scale, seed):
    """{table: columns as arrays}."""
    titles = Titles(np.random.default_rng((seed, 0)), scale)
    rng = lambda number: np.random.default_rng((seed, number))
    rows = {"title": (titles.kind + 1, titles.year), "movie_companies": companies(rng(1), titles, scale), "cast_info": cast(rng(2), titles, scale),
            "movie_info": infos(rng(3), titles), "movie_info_idx": ratings(rng(4), titles), "movie_keyword": keywords(rng(5), titles, scale)}
    return {name: [np.arange(1, len(columns[0]) + 1), *columns] for name, columns in rows.items()}


class Drawing:
    """Draws queries over the tables' columns, whose counts it knows without a join: all of them are stars around title."""

    def __init__(self, rng, columns, scale):
        self.rng, self.most = rng, LARGEST_COUNT * scale
        self.columns = {table: dict(zip((name for name, _ in TABLES[table]), arrays)) for table, arrays in columns.items()}
        self.columns["title"]["movie_id"] = self.columns["title"]["id"]
        self.titles = len(self.columns["title"]["id"])
        self.rows_of = {table: np.bincount(by["movie_id"], minlength=self.titles + 1) for table, by in self.columns.items()}

    def predicate(self, table, witness):
        """SQL, and the rows for which it holds; it holds for a row of the title `witness`."""
        column, operators = COLUMNS[table][self.rng.integers(len(COLUMNS[table]))]
        operator = operators[self.rng.integers(len(operators))]
        values = self.columns[table][column]
        rows = np.flatnonzero(self.columns[table]["movie_id"] == witness) if table != "title" else [witness - 1]
        value, name = int(values[rows[self.rng.integers(len(rows))]]), f"{ALIASES[table]}.{column}"
        low, high = int(self.rng.integers(values.min() - 1, value)), int(self.rng.integers(value + 1, values.max() + 2))
        if column == "production_year": low, high = max(low, value - 8), min(high, value + 8)
        if operator == "=": return f"{name} = {value}", values == value
        if operator == ">": return f"{name} > {low}", values > low
        if operator == "<": return f"{name} < {high}", values < high
        return f"{name} > {low} and {name} < {high}", (values > low) & (values < high)

    def query(self, count):
        """SQL over `count` tables, and its answer."""
        others = [name for name in TABLES if name != "title"]
        chosen = ["title"] + [others[i] for i in sorted(self.rng.choice(len(others), count - 1, replace=False))]
        there = np.flatnonzero(np.all([self.rows_of[table] > 0 for table in chosen], axis=0))
        if not len(there): return None, 0
        witness = int(there[self.rng.integers(len(there))])
        filtered = self.rng.choice(count, min(count, int(self.rng.integers(1, 5))), replace=False)
        predicates, per_title = [], np.ones(self.titles + 1)
        for i, table in enumerate(chosen):
            rows = self.rows_of[table]
            if i in filtered:
                text, holds = self.predicate(table, witness)
                predicates.append(text)
                rows = np.bincount(self.columns[table]["movie_id"][holds], minlength=self.titles + 1)
            per_title = per_title * rows
        joins = [f"t.id = {ALIASES[table]}.movie_id" for table in chosen[1:]]
        return (f"select count(*) from {', '.join(f'{table} {ALIASES[table]}' for table in chosen)}\nwhere {' and '.join(joins + predicates)}",
                int(per_title.sum()))

    def queries(self):
        drawn = []
        for count, wanted in QUERIES_BY_TABLES.items():
            while wanted:
                sql, answer = self.query(count)
                if 0 < answer <= self.most and sql not in drawn:
                    drawn.append(sql)
                    wanted -= 1
        return drawn


class JobLight:
    name, tables, keys = "joblight", TABLES, KEYS

    def __init__(self, scale, seed):
        self.scale, self.seed, self.directory = scale, seed, None

    def label(self):
        return f"joblight-{self.scale:g}-{self.seed}"

    def generate(self, directory):
        """The tables, and the queries, whose constants come from them."""
        columns = tables(self.scale, self.seed)
        for table, arrays in columns.items():
            schema = pa.schema([(name, pa.int32()) for name, _ in TABLES[table]])
            for number, start in enumerate(range(0, len(arrays[0]), CHUNK)):
                part = [pa.array(a[start:start + CHUNK].astype(np.int32)) for a in arrays]
                parquet.write_table(pa.Table.from_arrays(part, schema=schema), os.path.join(directory, f"{table}-{number:03}.parquet"), store_schema=False)
        drawn = Drawing(np.random.default_rng((self.seed, 100)), columns, self.scale).queries()
        with open(os.path.join(directory, "queries.sql"), "w") as file:
            for number, sql in enumerate(drawn, 1): file.write(f"-- {number}\n{sql};\n")

    def queries(self):
        with open(os.path.join(self.directory, "queries.sql")) as file:
            return file.read()
