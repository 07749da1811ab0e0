"""Random subqueries inside expressions: scalar, EXISTS, IN, ANY, ALL, ARRAY; correlated when they use outer columns."""
from expressions import Scope
from tree import Expr, Optional


class Subqueries:
    """Makes them with the statement's QueryMaker. `deep` keeps subqueries within subqueries few."""

    def __init__(self, maker):
        self.maker, self.deep = maker, 0

    def query(self, scope, types):
        self.deep += 1
        try:
            return self.maker.select(scope, 1, types)
        finally:
            self.deep -= 1

    def scalar(self, type_name, scope):
        """A subquery of at most one row: an aggregate without GROUP BY, or the row of a key."""
        maker, rng = self.maker, self.maker.rng
        if self.deep > 1:
            return maker.expressions.leaf(type_name, scope)
        if type_name.endswith("[]") and rng.random() < 0.4:
            return self.array(type_name, scope)
        self.deep += 1
        try:
            source = maker.sources.make(scope, 1)
            grouped = Scope((), scope, None, source.scope)
            aggregate = maker.expressions.aggregate(type_name, grouped, 2)
            keys = source.scope.keys
            if aggregate and (rng.random() < 0.7 or not keys):
                where = Optional(" WHERE ", maker.expressions.make("bool", Scope(source.scope.references, scope), 2))
                return Expr(type_name, "(SELECT ", aggregate, " FROM ", source.node, where, ")")
            if not keys:
                return maker.expressions.leaf(type_name, scope)
            value = maker.expressions.make(type_name, source.scope, 1)
            outer = scope.visible("int4", False)
            if len(keys) == 1 and outer and rng.random() < 0.6:
                return Expr(type_name, "(SELECT ", value, " FROM ", source.node, f" WHERE {keys[0]} = {rng.choice(outer).text})")
            order = ", ".join(k + rng.choice(["", " DESC"]) for k in keys)
            return Expr(type_name, "(SELECT ", value, " FROM ", source.node, f" ORDER BY {order} LIMIT 1)")
        finally:
            self.deep -= 1

    def array(self, type_name, scope):
        query = self.query(scope, [type_name[:-2]])
        self.maker.notes.ambiguous = True
        return Expr(type_name, "ARRAY(", query.node, " ORDER BY 1)") if "DISTINCT ON" not in query.node.text()[:40] else \
            self.maker.expressions.leaf(type_name, scope)

    def predicate(self, scope, kind):
        """EXISTS, IN, ANY or ALL."""
        maker, rng = self.maker, self.maker.rng
        if self.deep > 1:
            return maker.expressions.leaf("bool", scope)
        negated = rng.choice(["", "NOT "])
        form = rng.random()
        if form < 0.35:
            query = self.query(scope, ["int4"])
            return Expr("bool", f"({negated}EXISTS (", query.node, "))")
        query = self.query(scope, [kind])
        left = maker.expressions.leaf(kind, scope)
        if form < 0.75:
            return Expr("bool", "(", left, f" {negated}IN (", query.node, "))")
        operator = rng.choice(["=", "<", ">=", "<>"])
        return Expr("bool", "(", left, f" {operator} {rng.choice(['ANY', 'ALL'])} (", query.node, "))")
