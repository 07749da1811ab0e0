"""Random FROM clauses: tables, subqueries, VALUES, functions, WITH queries, joined in all ways."""
from expressions import Reference, Scope
from tree import Alone, Either, Expr, Items, Node, Optional
from values import ARRAY_ELEMENTS, base, literal


class Source:
    """The text of a FROM clause and the scope it gives."""

    def __init__(self, node, scope):
        self.node, self.scope = node, scope


class Sources:
    def __init__(self, maker):
        self.maker, self.rng = maker, maker.rng

    def make(self, outer, depth):
        count = self.rng.choice([1, 1, 1, 2, 2, 3]) if depth > 1 else self.rng.choice([1, 1, 1, 2])
        source = self.item(outer, depth)
        for _ in range(count - 1):
            source = self.join(source, outer, depth)
        return source

    def join(self, left, outer, depth):
        """`left` joined with another item, which may refer to `left` if LATERAL allows it."""
        rng = self.rng
        kind = rng.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ","])
        lateral = kind in ("JOIN", "LEFT JOIN", "CROSS JOIN", ",") and rng.random() < 0.15
        if lateral:
            right = self.derived(Scope(left.scope.references, outer), depth - 1, "LATERAL ")
            right.scope.outer = outer
        else:
            right = self.item(outer, depth - 1)
        references = left.scope.references + right.scope.references
        keys = left.scope.keys + right.scope.keys if left.scope.keys and right.scope.keys else None
        scope = Scope(references, outer, keys)
        parts = [Alone(left.node), f" {kind} " if kind != "," else ", ", Alone(right.node)]
        if kind not in ("CROSS JOIN", ","):
            parts += [" ON ", self.condition(left.scope, right.scope, scope, kind)]
        elif kind == ",":
            return Source(Node(*parts), scope)
        return Source(Either("(", *parts, ")"), scope)

    def condition(self, left, right, scope, kind):
        """A join condition: mostly an equality of two columns of one type, perhaps with something besides."""
        rng, make = self.rng, self.maker.expressions.make
        pairs = [(l, r) for l in left.references for r in right.references if l.type == r.type]
        equal = None
        if pairs and rng.random() < 0.85:
            l, r = rng.choice(pairs)
            equal = Expr("bool", f"({l.text} = {r.text})")
        if kind == "FULL JOIN":  # PostgreSQL wants a hashable or mergeable condition
            return equal or Node("true")
        if equal is None:
            return make("bool", scope, 2)
        if rng.random() < 0.3:
            return Expr("bool", "(", equal, rng.choice([" AND ", " AND ", " OR "]), make("bool", scope, 1), ")")
        return equal

    def item(self, outer, depth):
        chance = self.rng.random()
        if self.maker.ctes and chance < 0.3:
            return self.common(outer)
        if depth > 1 and chance < 0.45:
            return self.derived(outer, depth - 1)
        if chance > 0.93:
            return self.function(outer)
        if chance > 0.88:
            return self.values(outer)
        return self.table(outer)

    def table(self, outer):
        table, alias = self.rng.choice(self.maker.tables), self.maker.alias()
        references = [Reference(f"{alias}.{c.name}", c.type, c.tame) for c in table.columns]
        return Source(Alone(f"{table.name} {alias}"), Scope(references, outer, [f"{alias}.id"]))

    def common(self, outer):
        """A WITH query by name."""
        name, query = self.rng.choice(self.maker.ctes)
        return self.named(Alone(name), query, outer)

    def named(self, node, query, outer, prefix=""):
        alias = self.maker.alias()
        references = [Reference(f"{alias}.{c.text}", c.type, c.tame) for c in query.columns]
        keys = [f"{alias}.{key}" for key in query.keys] if query.keys else None
        return Source(Alone(prefix, node, f" {alias}"), Scope(references, outer, keys))

    def derived(self, outer, depth, lateral=""):
        """A subquery in FROM. Only a LATERAL one may see columns of its neighbours."""
        maker = self.maker
        query = maker.set_operation(depth, outer) if self.rng.random() < 0.15 else maker.select(outer, depth)
        tail = Node("")
        if self.rng.random() < 0.15 and "DISTINCT ON" not in query.node.text()[:40]:
            tail = Optional(*maker.order_and_limit(query).parts)
        return self.named(Node("(", query.node, tail, ")"), query, outer, lateral)

    def values(self, outer):
        alias, rng = self.maker.alias(), self.rng
        kinds = [rng.choice(["int4", "text", "bool", "date", "numeric"]) for _ in range(rng.randint(1, 3))]
        rows = [Node("(", Items([Node(literal(rng, k)) for k in kinds]), ")") for _ in range(rng.randint(1, 4))]
        names = [f"v{i}" for i in range(len(kinds))]
        references = [Reference(f"{alias}.{n}", k) for n, k in zip(names, kinds)]
        return Source(Alone("(VALUES ", Items(rows), f") {alias}({', '.join(names)})"), Scope(references, outer))

    def function(self, outer):
        alias, rng = self.maker.alias(), self.rng
        if rng.random() < 0.5:
            stop = rng.randint(0, 6)
            node = Alone(f"generate_series({rng.randint(-2, 2)}, {stop}) {alias}(g)")
            return Source(node, Scope([Reference(f"{alias}.g", "int4", True)], outer, [f"{alias}.g"]))
        element = base(rng.choice(ARRAY_ELEMENTS))
        array = self.maker.expressions.make(element + "[]", Scope((), outer), 1)
        node = Alone("unnest(", array, f") WITH ORDINALITY {alias}(e, n)")
        return Source(node, Scope([Reference(f"{alias}.e", element), Reference(f"{alias}.n", "int8")], outer, [f"{alias}.n"]))
