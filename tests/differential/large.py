"""Tables of some thousand rows, for what small ones do not reach: row groups, encodings, zone maps, filters on encoded data,
key indexes, dead rows, spilling. Rows are computed from their number, so that a few lines make them."""
from expressions import Notes
from tree import Node, Optional, TotalOrder

# Columns as expressions over the row's number, and literals to compare them with.
COLUMNS = {
    "int4": [("{g} % 7", "3"), ("{g}", "1500"), ("{g} * 7919 % 100003", "50000"), ("({g} - 1000) * 1000003", "-5000015"), ("NULLIF({g} % 3, 0)", "1"),
             ("{g} / 500", "2"), ("5", "5")],
    "int8": [("{g}::int8 * 4294967297", "4294967297000"), ("{g}::int8 % 11", "4"), ("9223372036854775807 - {g}", "9223372036854775000")],
    "int2": [("({g} % 13)::int2", "6"), ("({g} % 300 - 150)::int2", "-20")],
    "text": [("'k' || {g} % 20", "'k7'"), ("md5({g}::text)", "'8'"), ("CASE WHEN {g} % 50 = 0 THEN NULL ELSE 'v' || {g} / 100 END", "'v12'"),
             ("repeat('ab', {g} % 9)", "'abab'"), ("'same'", "'same'"), ("'prefix-that-is-long-' || {g} % 100", "'prefix-that-is-long-42'")],
    "date": [("date '2020-01-01' + {g} % 400", "date '2020-06-01'"), ("date '2000-01-01' + {g}", "date '2003-01-01'")],
    "timestamp": [("timestamp '2020-01-01' + {g} * interval '1 hour'", "timestamp '2020-02-01 05:00:00'")],
    "numeric(10,2)": [("({g} % 1000) * 1.25", "250.00"), ("CASE WHEN {g} % 10 > 0 THEN {g} / 4.0 END", "100.25")],
    "numeric": [("{g} * 1.5", "300.0"), ("{g}::numeric * 1e18", "5e20")],
    "float8": [("{g} * 0.25", "100"), ("CASE {g} % 100 WHEN 0 THEN 'NaN'::float8 ELSE {g} % 17 END", "8")],
    "bool": [("{g} % 3 = 0", "true"), ("CASE WHEN {g} % 4 > 0 THEN {g} > 1000 END", "false")],
    "uuid": [("md5(({g} % 200)::text)::uuid", "'c81e728d-9d4c-2f63-6f06-7f89cc14862c'")],
    "char(3)": [("chr(65 + {g} % 26)", "'C'")],
    "int4[]": [("ARRAY[{g} % 5, {g} % 2]", "'{1,1}'")],
}


class LargeTable:
    def __init__(self, rng, name):
        self.name = name
        self.columns = [("id", "int4", "{g}", "700")]
        for i in range(rng.randint(3, 7)):
            kind = rng.choice(list(COLUMNS))
            self.columns.append((f"c{i}", kind, *rng.choice(COLUMNS[kind])))
        self.count = rng.choice([1000, 2048, 2049, 5000, 20000])
        self.primary, self.indexed = rng.random() < 0.5, rng.random() < 0.3

    def statements(self):
        yield Node(f"CREATE TABLE {self.name} (", ", ".join(f"{n} {t}" for n, t, _, _ in self.columns), Optional(", PRIMARY KEY (id)") if self.primary else "", ")")
        if self.indexed:
            yield Node(f"CREATE INDEX ON {self.name} ({self.columns[1][0]})")
        yield Node(f"INSERT INTO {self.name} SELECT {self.values('g')} FROM generate_series(1, {self.count}) g")

    def values(self, number):
        return ", ".join(made.replace("{g}", number) for _, _, made, _ in self.columns)


class LargeMaker:
    """Statements over large tables: each has one answer only, without sums of floats that depend on order."""

    def __init__(self, rng, tables):
        self.rng, self.tables, self.notes = rng, tables, Notes()
        self.notes.ambiguous = True

    def chance(self, probability):
        return self.rng.random() < probability

    def condition(self, alias, table):
        rng, (name, kind, _, value) = self.rng, self.rng.choice(table.columns)
        column, form = f"{alias}.{name}", rng.randrange(9)
        if form == 0:
            return f"{column} IS {rng.choice(['', 'NOT '])}NULL"
        if form == 1 and kind != "int4[]":
            return f"{column} {rng.choice(['', 'NOT '])}IN ({value}, (SELECT min(z.{name}) FROM {table.name} z WHERE z.id < {rng.randint(0, 2000)}))" \
                if self.chance(0.3) and kind not in ("bool", "uuid") else f"{column} {rng.choice(['', 'NOT '])}IN ({value}, {value}, NULL)"
        if form == 2 and kind == "text":
            return f"{column} LIKE {rng.choice(['$k1%$', '$%2%$', '$prefix%4_$', '$v_$']).replace('$', chr(39))}"
        if form == 3 and kind in ("int4", "int8", "int2"):
            return f"{column} BETWEEN {value} - {rng.randint(0, 500)} AND {value} + {rng.randint(0, 500)}"
        if form == 4:
            return f"({self.condition(alias, table)} OR {self.condition(alias, table)})"
        if form == 5:
            return f"NOT ({self.condition(alias, table)})"
        return f"{column} {rng.choice(['=', '<', '>=', '<>', '>', '<='])} {value}"

    def where(self, alias, table):
        return [Optional(" AND ", self.condition(alias, table)) for _ in range(self.rng.randint(1, 3))]

    def query(self):
        rng, table = self.rng, self.rng.choice(self.tables)
        names = [c[0] for c in table.columns]
        form = rng.random()
        if form < 0.3:
            exact = [f"a.{n}" for n, t, _, _ in table.columns if t in ("int4", "int8", "int2", "numeric(10,2)", "numeric")]
            keys = ", ".join(f"a.{n}" for n in rng.sample(names[1:], rng.choice([0, 1, 1, 2])))
            every = "".join(f", min(a.{n}), count(a.{n}), count(DISTINCT a.{n})" for n, t, _, _ in rng.sample(table.columns, 2) if t not in ("bool", "uuid"))
            return Node(f"SELECT {keys + ', ' if keys else ''}count(*), sum({rng.choice(exact)}){every} FROM {table.name} a WHERE true", *self.where("a", table),
                        f" GROUP BY {keys}" if keys else "")
        if form < 0.55:
            direction = rng.choice(["", " DESC", " NULLS FIRST"])
            order = TotalOrder(f" ORDER BY a.{rng.choice(names)}{direction}, a.id LIMIT {rng.randint(1, 40)}" + rng.choice(["", f" OFFSET {rng.randint(0, 900)}"]))
            return Node(f"SELECT {', '.join('a.' + n for n in rng.sample(names, 2))} FROM {table.name} a WHERE true", *self.where("a", table), order)
        if form < 0.7:
            frame = rng.choice(["", " ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", " GROUPS 1 PRECEDING"])
            return Node(f"SELECT w, count(*), min(id) FROM (SELECT a.id, {rng.choice(['rank()', 'count(*)', 'sum(a.id)', 'lag(a.id)', 'last_value(a.id)'])} OVER "
                        f"(PARTITION BY a.{rng.choice(names[1:])} ORDER BY a.id{frame}) AS w FROM {table.name} a WHERE true", *self.where("a", table), ") s GROUP BY w")
        if form < 0.75:
            keys = ", ".join(f"({rng.randint(-5, table.count + 5)})" for _ in range(rng.randint(1, 5)))
            return Node(f"SELECT v.x, a.{rng.choice(names)} FROM (VALUES {keys}) v(x) {rng.choice(['JOIN', 'LEFT JOIN'])} {table.name} a ON a.id = v.x")
        other = rng.choice(self.tables)
        same = [(l[0], r[0]) for l in table.columns for r in other.columns if l[1] == r[1] and "id" in (l[0], r[0])]
        left, right = rng.choice(same)
        kind = rng.choice(["JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"])
        if form < 0.85:
            return Node(f"SELECT count(*), sum(a.id), sum(b.id), count(a.{rng.choice(names)}) FROM {table.name} a {kind} {other.name} b ON a.{left} = b.{right}",
                        *([] if kind == "FULL JOIN" else self.where("b", other)), " WHERE true", *self.where("a", table))
        word = rng.choice(["IN", "NOT IN"])
        return Node(f"SELECT count(*), sum(a.id) FROM {table.name} a WHERE a.{left} {word} (SELECT b.{right} FROM {other.name} b WHERE true", *self.where("b", other), ")",
                    *self.where("a", table))

    def change(self):
        rng, table = self.rng, self.rng.choice(self.tables)
        form = rng.random()
        if form < 0.4:
            return Node(f"DELETE FROM {table.name} a WHERE a.id % {rng.randint(2, 40)} = 0", *self.where("a", table))
        name, _, made, _ = rng.choice(table.columns[1:])
        if form < 0.7:
            return Node(f"UPDATE {table.name} a SET {name} = {made.replace('{g}', '(a.id + 3)')} WHERE true", *self.where("a", table))
        start = rng.choice([30000, 40000])
        return Node(f"INSERT INTO {table.name} SELECT {table.values('g')} FROM generate_series({start}, {start} + {rng.randint(1, 4000)}) g", " ON CONFLICT DO NOTHING" if table.primary else "")
