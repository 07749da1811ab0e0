"""Random expressions of a wanted type over the columns in scope."""
from functions import AGGREGATE_CALLS, CALLS, COMPARABLE, CONSTANTS, WINDOW_CALLS, constant
from known import avoided
from tree import Constant, Expr, Items, Node
from values import ARRAY_ELEMENTS, INTEGERS, base, literal

ELEMENTS = {base(e) for e in ARRAY_ELEMENTS}


class Reference:
    """A column that expressions may use: its text, its type, whether sums of it are exact and never overflow."""

    def __init__(self, text, type_name, tame=False):
        self.text, self.type, self.tame = text, type_name, tame

    def expr(self):
        return Expr(self.type, self.text)


class Scope:
    """What an expression may refer to: columns here, then those of the queries around. `keys` are columns that together
    are unique for each row, or None. In a grouped query, `inner` is the scope that arguments of aggregates use."""

    def __init__(self, references=(), outer=None, keys=None, inner=None, windows=False):
        self.references, self.outer, self.keys, self.inner, self.windows = list(references), outer, keys, inner, windows

    def visible(self, type_name, outer):
        """Columns of a type; with `outer`, those of the queries around."""
        found, scope = [], self.outer if outer else self
        while scope:
            found += [r for r in scope.references if r.type == type_name]
            scope = scope.outer if outer else None
        return found

    def type_of(self, text):
        return next(r.type for r in self.references if r.text == text)

    def types(self):
        return [r.type for r in self.references]


class Notes:
    """What was built into a query and decides how strictly its answers are compared."""

    def __init__(self):
        self.can_fail = 0        # calls that fail for some arguments
        self.inexact = False     # sums of floats
        self.ambiguous = False   # a group's representative among equal values
        self.exact = False       # there is no choice in what fails first, nor in the words
        self.several = False     # a statement that asks for several things


class Expressions:
    """Makes expressions. `subquery` makes one value, EXISTS and IN from queries; queries.py sets it."""

    def __init__(self, rng, may_fail):
        self.rng, self.may_fail, self.notes = rng, may_fail, Notes()
        self.subqueries = None

    def chance(self, probability):
        return self.rng.random() < probability

    def some_type(self, scope, probability_new=0.15):
        types = scope.types()
        return self.rng.choice(types) if types and not self.chance(probability_new) else self.rng.choice(list(CALLS))

    def make(self, type_name, scope, depth=3):
        """An expression of `type_name`."""
        rng = self.rng
        if depth <= 0 or self.chance(0.3):
            return self.leaf(type_name, scope)
        if scope.inner and self.chance(0.45):
            made = self.aggregate(type_name, scope, depth)
            if made:
                return made
        if scope.windows and self.chance(0.4):
            made = self.window(type_name, scope, depth)
            if made:
                return made
        if self.subqueries and depth > 1 and self.chance(0.07):
            return self.subqueries.scalar(type_name, scope)
        if type_name == "bool" and self.chance(0.55):
            return self.condition(scope, depth)
        if self.chance(0.2):
            return self.conditional(type_name, scope, depth)
        calls = [c for c in CALLS.get(type_name, ()) if self.usable(c)]
        if not calls:
            return self.leaf(type_name, scope)
        return self.call(rng.choice(calls), scope, depth)

    def usable(self, call):
        return (self.may_fail or not call.can_fail) and not avoided(call.template)

    def leaf(self, type_name, scope):
        found = scope.visible(type_name, scope.outer is not None and self.chance(0.3)) or scope.visible(type_name, False)
        if found and self.chance(0.85):
            return self.rng.choice(found).expr()
        if scope.inner and self.chance(0.5):
            made = self.aggregate(type_name, scope, 1)
            if made:
                return made
        return Constant(type_name, literal(self.rng, type_name, self.may_fail or self.chance(0.3)))

    def call(self, call, scope, depth, result=None):
        """The call with random arguments, in parentheses."""
        parts = ["("]
        for i, piece in enumerate(call.pieces):
            if i % 2 == 0:
                parts.append(piece)
            elif piece in CONSTANTS:
                parts.append(constant(self.rng, piece, call.template.startswith("date_part")))
            else:
                parts.append(self.make(piece, scope, depth - 1))
        self.notes.can_fail += call.can_fail
        return Expr(result or call.result, *parts, ")")

    def conditional(self, type_name, scope, depth):
        make = lambda t=type_name: self.make(t, scope, depth - 1)
        kind = self.rng.randrange(5 if type_name in COMPARABLE else 3)
        if kind == 0:
            return Expr(type_name, "CASE WHEN ", make("bool"), " THEN ", make(), " ELSE ", make(), " END")
        if kind == 1:
            return Expr(type_name, "COALESCE(", Items([make(), make()]), ")")
        if kind == 2:
            other = self.comparable_type(scope)
            return Expr(type_name, "CASE ", make(other), " WHEN ", make(other), " THEN ", make(), " END")
        if kind == 3:
            self.notes.ambiguous = True
            return Expr(type_name, self.rng.choice(["GREATEST(", "LEAST("]), Items([make(), make()]), ")")
        return Expr(type_name, "NULLIF(", make(), ", ", make(), ")")

    def comparable_type(self, scope):
        types = [t for t in scope.types() if t in COMPARABLE]
        return self.rng.choice(types) if types and self.chance(0.9) else self.rng.choice(COMPARABLE)

    def condition(self, scope, depth):
        """A predicate over values of one type."""
        kind = self.comparable_type(scope)
        make = lambda: self.make(kind, scope, depth - 1)
        operator = self.rng.choice(["=", "=", "<", "<=", ">", ">=", "<>"])
        form = self.rng.randrange(12)
        if form < 4:
            return Expr("bool", "(", make(), f" {operator} ", make(), ")")
        if form == 4:
            return Expr("bool", "(", make(), self.rng.choice([" IS NULL", " IS NOT NULL"]), ")")
        if form == 5:
            negated = self.rng.choice(["", "NOT "])
            return Expr("bool", "(", make(), f" IS {negated}DISTINCT FROM ", make(), ")")
        if form == 6:
            form = self.rng.choice(["BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC"])
            return Expr("bool", "(", make(), f" {form} ", make(), " AND ", make(), ")")
        if form == 7:
            negated = self.rng.choice(["", "NOT "])
            return Expr("bool", "(", make(), f" {negated}IN (", Items([make() for _ in range(self.rng.randint(1, 4))]), "))")
        if form == 8 and kind in ELEMENTS:
            return Expr("bool", "(", make(), f" {operator} {self.rng.choice(['ANY', 'ALL'])} (", self.make(kind + "[]", scope, depth - 1), "))")
        if form == 9:
            other = self.comparable_type(scope)
            second = lambda: self.make(other, scope, depth - 1)
            return Expr("bool", "((", make(), ", ", second(), f") {operator} (", make(), ", ", second(), "))")
        if form in (10, 11) and self.subqueries and depth > 1:
            return self.subqueries.predicate(scope, kind)
        return Expr("bool", "(", make(), " = ", make(), ")")

    def aggregate(self, type_name, scope, depth):
        """An aggregate call over the rows of a group, or None when there is none of this type."""
        calls = [c for c in AGGREGATE_CALLS.get(type_name, ()) if self.usable(c)]
        return self.aggregate_call(self.rng.choice(calls), scope.inner, depth) if calls else None

    def aggregate_call(self, call, inner, depth, filtered=True):
        parts = []
        for i, piece in enumerate(call.pieces):
            if i % 2 == 0:
                parts.append(piece)
            elif piece == "order":
                parts.append(self.group_order(inner))
            elif piece in CONSTANTS:
                parts.append(constant(self.rng, piece))
            elif piece.startswith("tame"):
                parts.append(self.tame(piece, inner))
            elif call.template.startswith("rank(") and i == 1:
                parts.append(Expr(piece, literal(self.rng, piece)))  # a direct argument may not be a column
            elif call.template.startswith(("sum", "avg", "var", "std", "regr", "corr")) and piece not in INTEGERS and not self.may_fail:
                parts.append(self.leaf(piece, inner))
            else:
                parts.append(self.make(piece, inner, min(depth - 1, 1)))
        self.note(call)
        if filtered and self.chance(0.15):
            parts += [" FILTER (WHERE ", self.make("bool", inner, 1), ")"]
        return Expr(call.result, *parts)

    def note(self, call):
        self.notes.can_fail += call.can_fail
        self.notes.inexact |= "~" in call.flags
        self.notes.ambiguous |= "?" in call.flags or "DISTINCT" in call.template

    def tame(self, kind, scope):
        wanted = ["float8", "int4"] if kind == "tamefloat" else ["int4"]
        found = [r for t in wanted for r in scope.references if r.type == t and r.tame]
        text = self.rng.choice(found).text if found else "1"
        return Node(f"{text}::float8")

    def group_order(self, scope):
        if scope.keys:
            return Node(", ".join(scope.keys))
        # Without keys, order by all columns: rows that tie are equal in all of them.
        self.notes.ambiguous = True
        return Node(", ".join(r.text for r in scope.references) or "1")

    def window(self, type_name, scope, depth):
        """A window call over the rows of the scope."""
        rng = self.rng
        plain = [c for c in WINDOW_CALLS.get(type_name, ()) if self.usable(c) and ("#" not in c.flags or scope.keys)]
        sums = [c for c in AGGREGATE_CALLS.get(type_name, ()) if self.usable(c) and
                not any(w in c.template for w in ("DISTINCT", "ORDER BY", "WITHIN"))]
        if not plain + sums:
            return None
        call = rng.choice(plain + sums)
        inner = Scope(scope.references, scope.outer, scope.keys, scope.inner)
        made = self.aggregate_call(call, inner, depth, call in sums)
        self.notes.ambiguous |= "numeric" in call.template or "float" in call.template
        self.notes.inexact |= type_name == "float8"
        total = "#" in call.flags
        return Expr(type_name, "(", made, " OVER (", self.window_body(inner, depth, total), "))")

    def window_body(self, scope, depth, total):
        rng, parts = self.rng, []
        if self.chance(0.6):
            parts.append(Node("PARTITION BY ", Items([self.make(self.comparable_type(scope), scope, 1) for _ in range(rng.randint(1, 2))])))
        order = []
        if total or self.chance(0.7):
            order = [Node(self.make(self.comparable_type(scope), scope, 1), rng.choice(["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"]))
                     for _ in range(rng.randint(0 if total else 1, 2))]
        if total or (scope.keys and self.chance(0.3)):
            order = order + [Node(key) for key in scope.keys]
            total = True
        if order:
            parts.append(Node("ORDER BY ", Items(order)))
        if self.chance(0.5):
            parts.append(Node(self.frame(bool(order), total, len(order))))
        return Items(parts, " ", 0)

    def frame(self, ordered, total, keys):
        """A frame whose rows do not depend on how ties are ordered."""
        rng = self.rng
        mode = rng.choice(["ROWS", "GROUPS", "RANGE"] if total else ["GROUPS", "RANGE"] if ordered else ["RANGE"])
        bounds = ["UNBOUNDED PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"]
        if mode != "RANGE":
            bounds[1:1] = [f"{rng.randint(0, 3)} PRECEDING"]
            bounds[-1:-1] = [f"{rng.randint(0, 3)} FOLLOWING"]
        first = rng.randrange(len(bounds) - 1)
        last = rng.randrange(max(first, 1), len(bounds))
        exclude = rng.choice(["", "", "", " EXCLUDE CURRENT ROW" if total else "", " EXCLUDE GROUP", " EXCLUDE TIES" if total else ""])
        if self.chance(0.3) and not bounds[first].endswith("FOLLOWING"):
            return f"{mode} {bounds[first]}" + exclude
        return f"{mode} BETWEEN {bounds[first]} AND {bounds[last]}" + exclude
