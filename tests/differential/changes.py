"""Random INSERT, UPDATE, DELETE, MERGE and TRUNCATE, alone and in WITH, and the transactions around them.

Their effect must not depend on the order of rows: a row that is changed meets at most one source row, through a key."""
import known
from expressions import Reference, Scope
from queries import QueryMaker
from tree import Items, Node, Optional
from values import literal, stored


class Change:
    """A statement and what its comparison has to know."""

    def __init__(self, node, notes):
        self.node, self.notes = node, notes


def constraint_statements(rng, tables):
    """Keys, checks and defaults that are added to filled tables; where rows violate them, both servers refuse."""
    for table in tables:
        columns = table.columns[1:]
        for _ in range(rng.randint(0, 3)):
            column, form = rng.choice(columns), rng.random()
            if form < 0.3:
                yield Node(f"ALTER TABLE {table.name} ALTER {column.name} SET DEFAULT {literal(rng, column.type, False)}")
            elif form < 0.5:
                maker = QueryMaker(rng, tables, False)
                maker.expressions.subqueries = None
                check = maker.expressions.make("bool", Scope([Reference(c.name, c.type, c.tame) for c in table.columns]), 2)
                yield Node(f"ALTER TABLE {table.name} ADD CONSTRAINT check_{column.name} CHECK (", check, ") NOT VALID")
            elif form < 0.65:
                yield Node(f"ALTER TABLE {table.name} ADD CONSTRAINT unique_{column.name} UNIQUE ({column.name})")
            elif form < 0.75:
                yield Node(f"ALTER TABLE {table.name} ALTER {column.name} SET NOT NULL")
            else:
                parent = rng.choice(tables)
                action = rng.choice(["", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT", " ON DELETE SET DEFAULT"])
                timing = "" if known.avoided("ADD COLUMN REFERENCES DEFERRABLE") else rng.choice(["", "", " DEFERRABLE INITIALLY DEFERRED"])
                yield Node(f"ALTER TABLE {table.name} ADD COLUMN r{rng.randrange(3)} int4 REFERENCES {parent.name} (id){action}{timing}")


class ChangeMaker:
    def __init__(self, rng, tables):
        self.rng, self.tables = rng, tables
        self.maker = None

    def make(self, in_transaction, failed):
        """The next statement of a sequence."""
        rng = self.rng
        self.maker = QueryMaker(rng, self.tables, rng.random() < 0.3)
        form = rng.random()
        if failed and rng.random() < 0.9:
            node = Node(rng.choice(["ROLLBACK", "ROLLBACK TO s", "COMMIT"]))
        elif form < 0.12:
            words = ["COMMIT", "ROLLBACK", "SAVEPOINT s", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"] if in_transaction else \
                ["BEGIN", "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"]
            node = Node(rng.choice(words))
        elif form < 0.2:
            node = self.maker.statement().node
        elif form < 0.3:
            node = self.with_changes()
        elif form < 0.33:
            node = Node(f"TRUNCATE {rng.choice(self.tables).name}" + rng.choice(["", " CASCADE"]))
        else:
            node = self.change(rng.choice(self.tables))
        return Change(node, self.maker.notes)

    def change(self, table, returning=True):
        form = self.rng.random()
        make = self.insert if form < 0.4 else self.update if form < 0.65 else self.delete if form < 0.8 else self.merge
        return make(table, returning)

    def scope_of(self, table, alias):
        return Scope([Reference(f"{alias}.{c.name}", c.type, c.tame) for c in table.columns], None, [f"{alias}.id"])

    def value(self, column, scope, depth=2):
        """An expression for a column; values for short columns are cut so that most fit."""
        made = self.maker.expressions.make(column.type, scope, depth)
        if column.declared == column.type:
            return made
        self.maker.notes.can_fail += 1
        return made if self.rng.random() < 0.2 else Node(made, f"::{column.declared}")

    def returning(self, scope, wanted):
        if not wanted or self.rng.random() < 0.5:
            return Optional()
        items = [self.maker.expressions.make(self.maker.expressions.some_type(scope), scope, 2) for _ in range(self.rng.randint(1, 3))]
        return Optional(" RETURNING ", Items([Node(e, f" AS c{i}") for i, e in enumerate(items)]))

    def some_columns(self, table):
        return [c for c in table.columns[1:] if self.rng.random() < 0.5] or table.columns[1:2]

    def insert(self, table, returning):
        rng = self.rng
        columns = [table.columns[0], *self.some_columns(table)]
        parts = [f"INSERT INTO {table.name} AS t (", ", ".join(c.name for c in columns), ") "]
        if rng.random() < 0.6:
            rows = [[Node(str(rng.randint(1, 25)))] + [Node("DEFAULT" if rng.random() < 0.1 else stored(rng, c.declared)) for c in columns[1:]]
                    for _ in range(rng.randint(1, 4))]
            parts += ["VALUES ", Items([Node("(", Items(row, least=len(columns)), ")") for row in rows])]
        else:
            source = self.maker.sources.table(None)
            values = [Node(f"{source.scope.keys[0]} + {rng.choice([0, 10, 20, 100])}")] + [self.value(c, source.scope) for c in columns[1:]]
            parts += ["SELECT ", Items(values, least=len(columns)), " FROM ", source.node,
                      Optional(" WHERE ", self.maker.expressions.make("bool", source.scope, 2))]
        parts.append(self.on_conflict(table))
        self.maker.notes.can_fail += 1
        if known.avoided("INSERT RETURNING subquery"):
            self.maker.expressions.subqueries = None
        return Node(*parts, self.returning(self.scope_of(table, "t"), returning))

    def on_conflict(self, table):
        rng = self.rng
        if rng.random() < 0.5:
            return Optional()
        if rng.random() < 0.4:
            return Optional(" ON CONFLICT" + rng.choice(["", " (id)"]) + " DO NOTHING")
        scope = self.scope_of(table, "t")
        scope.references += self.scope_of(table, "excluded").references
        where = Optional(" WHERE ", self.maker.expressions.make("bool", scope, 2)) if rng.random() < 0.3 else ""
        return Optional(" ON CONFLICT (id) DO UPDATE SET ", self.assignments(table, scope), where)

    def assignments(self, table, scope):
        columns = self.some_columns(table)
        return Items([Node(f"{c.name} = ", "DEFAULT" if self.rng.random() < 0.05 else self.value(c, scope)) for c in columns])

    def update(self, table, returning):
        scope = self.scope_of(table, "t")
        source, where = self.keyed_source(scope)
        return Node(f"UPDATE {table.name} AS t SET ", self.assignments(table, scope), Node(" FROM ", source) if source else "", where,
                    self.returning(scope, returning))

    def keyed_source(self, scope):
        """Perhaps another table, joined by its key: at most one of its rows for each row of `scope`."""
        condition = self.maker.expressions.make("bool", scope, 3)
        if self.rng.random() < 0.5:
            return None, Optional(" WHERE ", condition)
        other = self.maker.sources.table(None)
        outer = self.rng.choice(scope.visible("int4", False)).text
        scope.references += other.scope.references
        condition = self.maker.expressions.make("bool", scope, 2)
        return other.node, Node(f" WHERE {outer} = {other.scope.keys[0]}", Optional(" AND ", condition))

    def delete(self, table, returning):
        scope = self.scope_of(table, "t")
        source, where = self.keyed_source(scope)
        return Node(f"DELETE FROM {table.name} AS t", Node(" USING ", source) if source else "", where, self.returning(scope, returning))

    def merge(self, table, _):
        rng = self.rng
        scope, source = self.scope_of(table, "t"), self.maker.sources.table(None)
        both = Scope(scope.references + source.scope.references)
        parts = [Node(f"MERGE INTO {table.name} AS t USING ", source.node, f" ON t.id = {source.scope.keys[0]}")]
        count = rng.randint(1, 3)
        for i in range(count):
            matched = rng.random() < 0.6
            condition = Optional(" AND ", self.maker.expressions.make("bool", both if matched else source.scope, 2)) if i < count - 1 or rng.random() < 0.5 else ""
            parts.append(Node(f"WHEN {'' if matched else 'NOT '}MATCHED", condition, " THEN ", self.action(table, matched, both, source.scope)))
        return Items(parts, " ", 2)

    def action(self, table, matched, both, source):
        form = self.rng.random()
        if form < 0.15:
            return Node("DO NOTHING")
        if matched:
            return Node("DELETE") if form < 0.4 else Node("UPDATE SET ", self.assignments(table, both))
        columns = [table.columns[0], *self.some_columns(table)]
        values = [Node(f"{source.keys[0]} + {self.rng.choice([0, 30])}")] + [self.value(c, source) for c in columns[1:]]
        return Node("INSERT (", ", ".join(c.name for c in columns), ") VALUES (", Items(values, least=len(columns)), ")")

    def with_changes(self):
        """WITH a change of one table, read by a query or a change of another."""
        rng = self.rng
        table = rng.choice(self.tables)
        others = [t for t in self.tables if t is not table]
        columns = [c for c in table.columns if c.name == "id" or rng.random() < 0.4]
        change = self.change(table, False)
        if change.text().startswith("MERGE"):
            change = self.delete(table, False)
        inner = Node("WITH w0 AS (", change, " RETURNING ", ", ".join(f"t.{c.name} AS c{i}" for i, c in enumerate(columns)), ") ")
        references = [Reference(f"w0.c{i}", c.type, c.tame) for i, c in enumerate(columns)]
        if others and rng.random() < 0.3:
            other = rng.choice(others)
            scope = self.scope_of(other, "t")
            return Node(inner, f"DELETE FROM {other.name} AS t USING w0 WHERE t.id = w0.c0", self.returning(scope, True))
        scope = Scope(references, None, ["w0.c0"])
        outputs = [self.maker.expressions.make(self.maker.expressions.some_type(scope), scope, 2) for _ in range(rng.randint(1, 3))]
        return Node(inner, "SELECT ", Items([Node(e, f" AS o{i}") for i, e in enumerate(outputs)]), " FROM w0")
