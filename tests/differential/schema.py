"""Random tables with rows. A table prints itself as CREATE TABLE and INSERT, and can lose columns, rows and keys when a
difference is made smaller."""
from tree import Items, Node
from known import avoided
from values import ARRAYS, SCALARS, base, stored

KEYS = {"int2", "int4", "int8", "text", "date", "uuid", "timestamp", "numeric(8,2)"}

STORED_ARRAYS = [a for a in ARRAYS if "(" not in a or not avoided(a)]


class Column:
    def __init__(self, name, type_name, tame=False):
        self.name, self.declared, self.type, self.tame = name, type_name, base(type_name), tame


class Table:
    """Columns and rows of literals. Column "id" numbers the rows; queries that need a total order use it."""

    def __init__(self, name, columns, rows, primary=True, indexed=()):
        self.name, self.columns, self.rows, self.primary, self.indexed = name, columns, rows, primary, indexed

    def statements(self):
        parts = [Node(f"{c.name} {c.declared}" + (" PRIMARY KEY" if c.name == "id" and self.primary else ""))
                 for c in self.columns]
        yield Node(f"CREATE TABLE {self.name} (", Items(parts), ")")
        for name in self.indexed:
            yield Node(f"CREATE INDEX ON {self.name} ({name})")
        for start in range(0, len(self.rows), 100):
            rows = [Node("(", Items(list(row)), ")") for row in self.rows[start:start + 100]]
            yield Node(f"INSERT INTO {self.name} VALUES ", Items(rows))

    def smaller(self):
        """Tables that lack rows, columns or the key, or have simpler values."""
        count, size = len(self.rows), len(self.rows)
        while size >= 1:
            for start in range(0, count, size):
                yield self.copy(rows=self.rows[:start] + self.rows[start + size:])
            size //= 2
        for i in range(len(self.columns) if len(self.columns) > 1 else 0):
            yield self.copy(columns=self.columns[:i] + self.columns[i + 1:], rows=[r[:i] + r[i + 1:] for r in self.rows],
                            indexed=[n for n in self.indexed if n != self.columns[i].name])
        if self.primary or self.indexed:
            yield self.copy(primary=False, indexed=())

    def copy(self, **changes):
        return Table(**{**self.__dict__, **changes})

    def size(self):
        return sum(len(s.text()) for s in self.statements())


def random_table(rng, name, rows_max=14):
    """A table of some columns; one in four has no extreme values in it, so that sums and casts of them never fail."""
    columns = [Column("id", "int4", True)]
    tame_table = rng.random() < 0.25
    kinds = ["int4", "text"] + [rng.choice(SCALARS if rng.random() < 0.8 else STORED_ARRAYS) for _ in range(rng.randint(2, 9))]
    if rng.random() < 0.5:
        kinds.append("float8")
    for i, kind in enumerate(kinds):
        columns.append(Column(f"c{i}", kind, tame_table or rng.random() < 0.4))
    count = 0 if rng.random() < 0.05 else rng.randint(1, rows_max)
    if rng.random() < 0.04:
        count = rng.randint(30, 90)
    rows = [[str(i + 1)] + [stored(rng, c.declared, not c.tame) for c in columns[1:]] for i in range(count)]
    for i, c in enumerate(columns[1:], 1):  # a column in which every row is NULL, and one whose rows are all equal
        chance = rng.random()
        for row in rows:
            if chance < 0.03:
                row[i] = "NULL"
            elif chance < 0.06:
                row[i] = rows[0][i]
    indexed = [c.name for c in columns[1:] if c.declared in KEYS and rng.random() < 0.15]
    return Table(name, columns, rows, rng.random() < 0.7, indexed)
