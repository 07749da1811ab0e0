"""Random SELECT statements: FROM, WHERE, GROUP BY, windows, set operations, WITH. Subqueries are in subqueries.py."""
import re

from expressions import Expressions, Reference, Scope
from functions import CALLS, COMPARABLE
from known import avoided
from sources import Sources
from subqueries import Subqueries
from tree import Alone, Either, Items, Node, Optional, TotalOrder
from values import AMBIGUOUS, ARRAYS, SCALARS

DECLARED = [t for t in SCALARS + ARRAYS if not avoided(t)] + ["numeric(5,1)", "varchar(2)", "char(2)", "time(0)", "timestamp(3)", "interval(1)"]


class Query:
    """A query's tree, its output columns, and which of these are unique together (or None)."""

    def __init__(self, node, columns, keys=None):
        self.node, self.columns, self.keys = node, columns, keys


class QueryMaker:
    """Makes queries over tables. One maker makes one statement: it counts aliases and keeps the notes."""

    def __init__(self, rng, tables, may_fail):
        self.rng, self.tables, self.may_fail = rng, tables, may_fail
        self.expressions = Expressions(rng, may_fail)
        self.expressions.subqueries = Subqueries(self)
        self.sources = Sources(self)
        self.ctes, self.aliases = [], 0

    @property
    def notes(self):
        return self.expressions.notes

    def chance(self, probability):
        return self.rng.random() < probability

    def alias(self):
        self.aliases += 1
        return f"x{self.aliases}"

    def scalar(self):
        """One call over one row: nothing but the call can fail, so that errors are compared exactly."""
        rng, table = self.rng, self.rng.choice([t for t in self.tables if t.rows] or self.tables)
        scope = Scope([Reference(f"t.{c.name}", c.type, c.tame) for c in table.columns])
        self.expressions.subqueries = None
        if self.chance(0.3):
            source = rng.choice(scope.references) if self.chance(0.7) else self.expressions.leaf(rng.choice(COMPARABLE), Scope())
            text, target = source.text if isinstance(source, Reference) else source.text(), rng.choice(DECLARED)
            if target.endswith("[]") and avoided("casts of arrays") or target == "name" and avoided("casts to name"):
                target = "text"
            made = Node(f"{text}::{target}")
        else:
            calls = [c for c in CALLS[rng.choice(list(CALLS))] if self.expressions.usable(c)]
            made = self.expressions.call(rng.choice(calls), scope, 1) if calls else Node("1")
        self.notes.exact = True
        return Query(Node("SELECT ", made, f" AS c0 FROM {table.name} t WHERE t.id = {rng.randint(1, max(len(table.rows), 1))}"), [])

    def statement(self):
        """A whole statement."""
        with_clause = self.with_clause() if self.chance(0.2) else Node()
        if self.chance(0.15):
            query = self.set_operation(3)
        else:
            query = self.select(None, 3)
        tail = self.order_and_limit(query)
        return Query(Node(with_clause, query.node, tail), query.columns)

    def select(self, outer, depth, types=None):
        """SELECT ... with no ORDER BY of its own. With `types`, these are the types of its columns."""
        source = self.sources.make(outer, depth)
        where = Node(" WHERE ", self.expressions.make("bool", source.scope, depth)) if self.chance(0.5) else None
        style = self.rng.random()
        if style < 0.3:
            return self.grouped(source, where, types, depth)
        distinct = style > 0.88
        scope = Scope(source.scope.references, outer, source.scope.keys, windows=not distinct and self.chance(0.4))
        keys = None
        wanted = types or self.some_types(scope)
        distinct = distinct and not any(avoided(t) for t in wanted)
        outputs = [self.expressions.make(t, scope, depth) for t in wanted]
        if not types and not distinct and scope.keys and self.chance(0.5):
            keys = [f"k{i}" for i in range(len(scope.keys))]
        columns = [Reference(f"c{i}", t) for i, t in enumerate(wanted)]
        items = [Node(e, f" AS c{i}") for i, e in enumerate(outputs)]
        if keys:
            items += [Node(f"{text} AS {key}") for key, text in zip(keys, scope.keys)]
            columns += [Reference(key, scope.type_of(text)) for key, text in zip(keys, scope.keys)]
        word, order = Node(""), Node("")
        if distinct:
            word, order = self.distinct(scope, len(items), types)
            self.notes.ambiguous = True
            keys = [c.text for c in columns] if order.text() == "" else None
        node = Node("SELECT ", word, Items(items), " FROM ", source.node, Optional(where) if where else "", order)
        return Query(node, columns, keys)

    def distinct(self, scope, count, types):
        """DISTINCT, or DISTINCT ON with the order that makes its choice of rows unique."""
        if types or not scope.keys or self.chance(0.6):
            return Optional("DISTINCT "), Node("")
        on = [self.expressions.make(self.expressions.comparable_type(scope), scope, 1) for _ in range(self.rng.randint(1, 2))]
        order = Node(" ORDER BY ", Items([*on, *[Node(k + self.rng.choice(["", " DESC"])) for k in scope.keys]]))
        node = Node("DISTINCT ON (", Items(on), ") ")
        return node, order

    def grouped(self, source, where, types, depth):
        rng, inner = self.rng, source.scope
        groups = []
        sets = self.chance(0.3)  # grouping sets over columns only: PostgreSQL 15 does not set folded constants to NULL
        if self.chance(0.8):
            for _ in range(rng.randint(1, 3)):
                simple = [r for r in inner.references if r.type in COMPARABLE]
                expr = rng.choice(simple).expr() if simple and (sets or self.chance(0.75)) else \
                    self.expressions.make(self.expressions.comparable_type(inner), inner, 1)
                if expr.text() not in [g.text() for g in groups] and self.is_column_like(expr):
                    groups.append(expr)
        references = [Reference(g.text(), g.type) for g in groups]
        self.notes.ambiguous |= bool(groups)
        clause, single = self.group_clause(groups, sets and all(g.parts == [g.text()] and "(" not in g.text() for g in groups))
        scope = Scope(references, inner.outer, None, inner, windows=self.chance(0.15))
        wanted = types or [rng.choice(list(COMPARABLE)) if not groups or self.chance(0.6) else rng.choice(groups).type
                           for _ in range(rng.randint(1, 4))]
        outputs = [self.expressions.make(t, scope, 2) for t in wanted]
        keys = None
        if not types and groups and single and self.chance(0.4):
            outputs += groups
            keys = [f"c{i}" for i in range(len(wanted), len(outputs))]
        columns = [Reference(f"c{i}", e.type) for i, e in enumerate(outputs)]
        having = Optional(" HAVING ", self.expressions.make("bool", Scope(references, inner.outer, None, inner), 2)) if self.chance(0.25) else ""
        node = Node("SELECT ", Items([Node(e, f" AS c{i}") for i, e in enumerate(outputs)]), " FROM ", source.node,
                    Optional(where) if where else "", clause, having)
        return Query(node, columns, keys)

    @staticmethod
    def is_column_like(expr):
        """Constants in GROUP BY mean positions or nothing: only expressions over columns are grouped by."""
        return re.search(r"\bx\d+\.", expr.text()) and "SELECT" not in expr.text()

    def group_clause(self, groups, sets):
        """GROUP BY over `groups`; whether there is a single grouping set."""
        if not groups:
            return Node(""), True
        texts = [Node(g.text()) for g in groups]
        form = self.rng.random()
        if not sets:
            return Node(" GROUP BY ", Items(texts)), True
        if form < 0.3:
            return Node(" GROUP BY ROLLUP (", Items(texts), ")"), False
        if form < 0.6:
            return Node(" GROUP BY CUBE (", Items(texts), ")"), False
        sets = [Node("(", Items([t for t in texts if self.chance(0.6)], least=0), ")") for _ in range(self.rng.randint(1, 4))]
        sets.append(Node("(", Items(texts, least=0), ")"))
        return Node(" GROUP BY GROUPING SETS (", Items(sets), ")"), False

    def some_types(self, scope):
        return [self.expressions.some_type(scope) for _ in range(self.rng.randint(1, 4))]

    def set_operation(self, depth, outer=None, types=None):
        types = types or [self.rng.choice(COMPARABLE) for _ in range(self.rng.randint(1, 3))]
        query = self.select(outer, depth - 1, types)
        node = Alone("(", query.node, ")")
        for _ in range(self.rng.randint(1, 2)):
            word = self.rng.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL", "UNION ALL"])
            other = Alone("(", self.select(outer, depth - 1, types).node, ")")
            node = Either(node, f" {word} ", other)
        self.notes.ambiguous = True
        return Query(node, query.columns)

    def with_clause(self):
        """WITH queries; later FROM clauses may use them."""
        parts, recursive = [], False
        for i in range(self.rng.randint(1, 2)):
            name = f"w{len(self.ctes)}"
            materialized = self.rng.choice(["", "", " MATERIALIZED", " NOT MATERIALIZED"])
            if self.chance(0.2):
                recursive = True
                query = self.recursion(name)
                materialized = ""
            else:
                query = self.select(None, 2)
            parts.append(Node(f"{name} AS{materialized} (", query.node, ")"))
            self.ctes.append((name, query))
        return Optional("WITH RECURSIVE " if recursive else "WITH ", Items(parts), " ")

    def recursion(self, name):
        """A recursive query that ends: it counts up to a limit, perhaps joined with a table."""
        limit = self.rng.randint(2, 8)
        union = self.rng.choice(["UNION", "UNION ALL"])
        table = self.rng.choice(self.tables)
        text = f"SELECT id AS c0, 0 AS c1 FROM {table.name} WHERE id <= 3 {union} "
        if self.chance(0.5):
            text += f"SELECT r.c0, r.c1 + 1 FROM {name} r WHERE r.c1 < {limit}"
        else:
            text += f"SELECT t.id, r.c1 + 1 FROM {name} r JOIN {table.name} t ON t.id = r.c0 + 1 WHERE r.c1 < {limit}"
        return Query(Node(text), [Reference("c0", "int4"), Reference("c1", "int4", True)])

    def order_and_limit(self, query):
        """ORDER BY all columns, so that it is total, and LIMIT; or nothing."""
        rng = self.rng
        if "DISTINCT ON" in query.node.text()[:40] or self.chance(0.55):
            return Node("")
        positions = list(range(1, len(query.columns) + 1))
        rng.shuffle(positions)
        directions = ["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"]
        parts = [Node(" ORDER BY ", Node(", ".join(f"{p}{rng.choice(directions)}" for p in positions)))]
        self.notes.ambiguous |= any(c.type.removesuffix("[]") in AMBIGUOUS for c in query.columns)
        form = rng.random()
        if form < 0.3:
            parts.append(Optional(f" LIMIT {rng.randint(0, 6)}"))
        elif form < 0.4:
            parts.append(Optional(f" OFFSET {rng.randint(0, 4)}"))
        elif form < 0.5:
            parts.append(Optional(f" LIMIT {rng.randint(1, 6)} OFFSET {rng.randint(0, 4)}"))
        elif form < 0.6:
            parts.append(Optional(f" FETCH FIRST {rng.randint(1, 4)} ROWS WITH TIES"))
        return TotalOrder(*parts)
