"""Tables of jsonb documents, for what scans read of them: paths as columns of text and of types, in rows just inserted and in
blocks. Most documents have the shapes that a row's number gives; some are odd."""
from expressions import Notes
from tree import Node, Optional, TotalOrder

# Members as expressions over the row's number, and the types that all their texts, or some, can be cast to.
MEMBERS = [
    ("to_jsonb({g})", ["int4", "int8", "numeric", "float8"]), ("to_jsonb({g} % 7)", ["int2", "int4", "numeric", "float8"]),
    ("to_jsonb({g}::int8 * 4294967297)", ["int8", "numeric"]), ("to_jsonb(({g} % 1000)::numeric / 100)", ["numeric"]),
    ("to_jsonb(round({g} * 0.37, 2))", ["numeric", "float8"]), ("to_jsonb(CASE WHEN {g} % 3 = 0 THEN {g}::numeric ELSE {g} * 0.5 END)", ["numeric", "float8"]),
    ("to_jsonb({g} % 3 = 0)", ["bool"]), ("to_jsonb(date '2020-01-01' + {g} % 500)", ["date"]), ("to_jsonb('2024-02-' || lpad(({g} % 29 + 1)::text, 2, '0'))", ["date"]),
    ("to_jsonb('k' || {g} % 20)", []), ("to_jsonb(md5({g}::text))", []), ("to_jsonb(repeat('é', {g} % 9))", []), ("to_jsonb('same'::text)", []),
    ("CASE WHEN {g} % 4 = 0 THEN to_jsonb({g}::text) ELSE to_jsonb({g}) END", ["int4", "numeric"]),
    ("CASE WHEN {g} % 5 = 0 THEN 'null' ELSE to_jsonb({g} % 100) END::jsonb", ["int4", "int8", "numeric"]),
    ("CASE {g} % 6 WHEN 0 THEN to_jsonb({g}) WHEN 1 THEN to_jsonb('t' || {g}) WHEN 2 THEN '[]' WHEN 3 THEN '{{}}' WHEN 4 THEN to_jsonb(true) END::jsonb", []),
    ("jsonb_build_array({g} % 3, 'x' || {g} % 5)", []), ("CASE WHEN {g} % 2 = 0 THEN '[]'::jsonb ELSE to_jsonb(ARRAY[{g}]) END", []),
    ("CASE WHEN {g} % 700 = 0 THEN to_jsonb('no number'::text) ELSE to_jsonb({g}) END", []), ("to_jsonb({g} * 1e15)", ["numeric", "float8"]),
]
KEYS = ["a", "b", "c", "kind", "k e", "é", "a1", "", "A"]
ODD = ["null", "5", '"a"', "[]", "{}", '[{"a": 1}]', '{"a": {"a": {"a": 1}}}', '{"o": 5}', '{"o": {"a": null}}', '{"a": 1.50, "b": [1, {"a": 2}], "o": {"o": {"o": {}}}}',
       '{"a": 123456789012345678901234567890}', '{"b": "2024-02-30"}', '{"a": "7", "kind": {"a": 1}}', '{"a": -0.0, "c": 1e5}']
CONTAINED = ["1", "{}", "[1]", "null", '"k7"', "5.0"]
CONSTANTS = {"int2": "3", "int4": "50", "int8": "4294967297000", "numeric": "2.5", "float8": "100", "date": "date '2020-06-01'", "bool": "true"}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class DocumentTable:
    """id and doc: objects with members and, below some, further objects."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.paths = []  # (keys, types that the texts can be cast to)
        self.document = self.object([], 2)
        self.count = rng.choice([50, 300, 1000, 3000])

    def object(self, above, depth):
        rng = self.rng
        members = []
        for key in rng.sample(KEYS, rng.randint(1, 4)):
            made, types = rng.choice(MEMBERS)
            if rng.random() < 0.15:  # missing now and then
                made = f"CASE WHEN {{g}} % {rng.choice([2, 10, 500])} > 0 THEN {made} END"
            self.paths.append((above + [key], types))
            members += [quoted(key), made]
        if depth and rng.random() < 0.6:
            members += ["'o'", self.object(above + ["o"], depth - 1)]
        if rng.random() < 0.2:
            return f"jsonb_strip_nulls(jsonb_build_object({', '.join(members)}))"
        return f"jsonb_build_object({', '.join(members)})"

    def statements(self):
        yield Node(f"CREATE TABLE {self.name} (id int4, doc jsonb)")
        yield Node(f"INSERT INTO {self.name} SELECT g, {self.values('g')} FROM generate_series(1, {self.count}) g")
        if self.rng.random() < 0.5:
            rows = ", ".join(f"({100000 + i}, {quoted(text)})" for i, text in enumerate(self.rng.sample(ODD, 4)))
            yield Node(f"INSERT INTO {self.name} VALUES {rows}")

    def values(self, number):
        made = self.document.replace("{g}", number).replace("{{", "{").replace("}}", "}")
        if self.rng.random() < 0.3:
            made = f"CASE WHEN {number} % {self.rng.choice([3, 40])} > 0 THEN {made} END"
        if self.rng.random() < 0.3:
            made = f"{made} || jsonb_build_object('r' || {number} % {self.rng.choice([5, 3000])}, {number})"
        return made


class DocumentMaker:
    """Statements over documents: each has one answer only."""

    def __init__(self, rng, tables):
        self.rng, self.tables, self.notes = rng, tables, Notes()
        self.notes.ambiguous = True

    def path(self, table):
        """Keys of a path, and the types that its texts can be cast to."""
        rng, chance = self.rng, self.rng.random()
        if chance < 0.75:
            return rng.choice(table.paths)
        if chance < 0.85:
            return rng.choice(table.paths)[0] + [rng.choice(KEYS)], []
        return rng.choice([["o"], ["none"], ["o", "o"], [rng.choice(KEYS)], ["o", rng.choice(KEYS)]]), []

    def access(self, alias, keys, as_text):
        """The value at a path, in one of the ways to write it."""
        form = self.rng.random()
        if form < 0.6 or not all(k and k.isalnum() and not k[0].isdigit() for k in keys):
            steps = "".join(f" -> {quoted(k)}" for k in keys[:-1])
            return f"({alias}.doc{steps} {'->>' if as_text else '->'} {quoted(keys[-1])})"
        if form < 0.85 or as_text:
            return f"({alias}.doc {'#>>' if as_text else '#>'} {quoted('{' + ','.join(keys) + '}')})"
        return f"({alias}.doc" + "".join(f"[{quoted(k)}]" for k in keys) + ")"

    def text(self, alias, table):
        return self.access(alias, self.path(table)[0], True)

    def typed(self, alias, table):
        """A cast, and its type. It may fail for some rows."""
        rng = self.rng
        keys, types = self.path(table)
        kind = rng.choice(types) if types and rng.random() < 0.95 else rng.choice(list(CONSTANTS))
        if not types or rng.random() < 0.2:
            text = self.access(alias, keys, True)
            return f"(CASE WHEN {text} ~ '^-?[0-9]{{1,4}}$' THEN {text}::{'int4' if kind in ('bool', 'date') else kind} END)", "int4" if kind in ("bool", "date") else kind
        self.notes.can_fail += 1
        if kind == "numeric" and rng.random() < 0.2:
            return f"{self.access(alias, keys, True)}::numeric(12,{rng.randint(0, 3)})", kind
        return f"{self.access(alias, keys, True)}::{kind}", kind

    def condition(self, alias, table):
        rng, form = self.rng, self.rng.randrange(12)
        if form < 5:
            value, kind = self.typed(alias, table)
            return f"{value} {rng.choice(['=', '<', '>=', '<>', '>', '<='])} {CONSTANTS[kind]}"
        if form < 7:
            return f"{self.text(alias, table)} {rng.choice(['=', '<', '>=', '<>', 'LIKE'])} {rng.choice(['$k7$', '$1$', '$2020-06-01$', '$true$', '$%2%$', '$$']).replace('$', chr(39))}"
        if form == 7:
            return f"{self.access(alias, self.path(table)[0], rng.random() < 0.5)} IS {rng.choice(['', 'NOT '])}NULL"
        if form == 8:
            return f"{self.access(alias, self.path(table)[0], False)} @> {quoted(rng.choice(CONTAINED))}"
        if form == 9:
            return f"{alias}.doc ? {quoted(rng.choice(KEYS + ['o']))}"
        if form == 10:
            return f"({self.condition(alias, table)} OR {self.condition(alias, table)})"
        return f"NOT ({self.condition(alias, table)})"

    def where(self, alias, table):
        return [Optional(" AND ", self.condition(alias, table)) for _ in range(self.rng.randint(0, 2))]

    def value(self, alias, table):
        form = self.rng.random()
        if form < 0.4:
            return self.text(alias, table)
        if form < 0.6:
            return self.access(alias, self.path(table)[0], False)
        return self.typed(alias, table)[0] if form < 0.95 else f"{alias}.doc"

    def query(self):
        rng, table, form = self.rng, self.rng.choice(self.tables), self.rng.random()
        if form < 0.3:
            values = ", ".join(self.value("a", table) for _ in range(rng.randint(1, 3)))
            return Node(f"SELECT a.id, {values} FROM {table.name} a WHERE true", *self.where("a", table), TotalOrder(" ORDER BY a.id, a.doc LIMIT ", str(rng.randint(1, 60))))
        if form < 0.6:
            keys = ", ".join(self.text("a", table) for _ in range(rng.choice([0, 1, 1, 2])))
            value, kind = self.typed("a", table)
            made = {"bool": "bool_and", "date": "max", "float8": "max"}.get(kind, "sum")
            return Node(f"SELECT {keys + ', ' if keys else ''}count(*), {made}({value}), count(DISTINCT {self.text('a', table)}), min({self.text('a', table)}), count({self.value('a', table)}) "
                        f"FROM {table.name} a WHERE true", *self.where("a", table), f" GROUP BY {keys}" if keys else "")
        other = rng.choice(self.tables)
        if form < 0.72:
            left, kind = self.typed("a", table)
            right = next((v for v, k in (self.typed("b", other) for _ in range(20)) if k == kind), None) or f"b.id::{kind if kind not in ('bool', 'date', 'int2') else 'int4'}"
            on = f"{left} = {right}" if kind not in ("bool", "date") or "b.id" not in right else f"{self.text('a', table)} = {self.text('b', other)}"
            return Node(f"SELECT count(*), sum(a.id), count({self.value('b', other)}) FROM {table.name} a {rng.choice(['JOIN', 'LEFT JOIN', 'RIGHT JOIN'])} {other.name} b ON {on}",
                        " AND b.id < 400 AND a.id < 400 WHERE true", *self.where("a", table))
        if form < 0.8:
            word = rng.choice(["IN", "NOT IN"])
            return Node(f"SELECT count(*), sum(a.id) FROM {table.name} a WHERE {self.text('a', table)} {word} (SELECT {self.text('b', other)} FROM {other.name} b WHERE b.id < 200",
                        *self.where("b", other), ")", *self.where("a", table))
        if form < 0.88:
            return Node(f"SELECT count(*), min(x), count(DISTINCT y) FROM (SELECT DISTINCT {self.text('a', table)} AS x, {self.access('a', self.path(table)[0], False)} AS y FROM {table.name} a "
                        "WHERE true", *self.where("a", table), ") s")
        if form < 0.94:
            return Node(f"SELECT a.id, (SELECT count(*) FROM {other.name} b WHERE {self.text('b', other)} = {self.text('a', table)}) FROM {table.name} a WHERE a.id < 30", *self.where("a", table),
                        TotalOrder(" ORDER BY a.id"))
        return Node(f"WITH s AS {rng.choice(['', 'MATERIALIZED '])}(SELECT a.doc, a.id FROM {table.name} a WHERE true", *self.where("a", table),
                    f") SELECT count(*), max({self.text('a', table)}), count(u.doc) FROM s a JOIN (SELECT doc FROM s UNION ALL SELECT doc FROM {other.name} WHERE id < 9) u ON a.id < 5")

    def change(self):
        rng, table, form = self.rng, self.rng.choice(self.tables), self.rng.random()
        keys, _ = self.path(table)
        if form < 0.25:
            return Node(f"DELETE FROM {table.name} a WHERE a.id % {rng.randint(2, 40)} = 0", *self.where("a", table))
        if form < 0.7:
            made = rng.choice([f"jsonb_set(a.doc, ARRAY[{quoted(keys[0])}], to_jsonb(a.id))", f"a.doc - {quoted(keys[0])}",
                               "a.doc || '{\"a\": \"text\"}'", "a.doc || jsonb_build_object('kind', a.id)", f"a.doc #- {quoted('{o,a}')}"])
            return Node(f"UPDATE {table.name} a SET doc = {made} WHERE jsonb_typeof(a.doc) = 'object' AND a.id % {rng.randint(1, 9)} = 0", *self.where("a", table))
        start = rng.choice([30000, 40000])
        return Node(f"INSERT INTO {table.name} SELECT g, {table.values('g')} FROM generate_series({start}, {start} + {rng.randint(1, 2000)}) g")
