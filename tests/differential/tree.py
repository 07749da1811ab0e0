"""SQL as a tree that can be made smaller. The generator builds these nodes, the minimiser walks them: it never cuts text.

A node is a list of parts, texts and nodes, that are printed one after the other. What may be left out or replaced is
said by the node's class; `variants` lists the trees that are one step smaller."""


class Node:
    """Parts in order; nothing of its own can be left out."""

    def __init__(self, *parts):
        self.parts = list(parts)

    def text(self):
        return "".join(p if isinstance(p, str) else p.text() for p in self.parts)

    def with_parts(self, parts):
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.parts = parts
        return copy

    def smaller(self):
        """Nodes that may stand in this node's place, the smallest first."""
        return ()

    def descendants(self):
        for part in self.parts:
            if isinstance(part, Node):
                yield part
                yield from part.descendants()


class Expr(Node):
    """A value expression. Any expression of the same type below it may take its place, and so may a constant."""

    def __init__(self, type_name, *parts):
        super().__init__(*parts)
        self.type = type_name

    def smaller(self):
        yield Expr(self.type, f"(NULL::{self.type})")
        if self.type == "bool":
            yield Expr("bool", "true")
        if self.type in ("int4", "text"):
            yield Expr(self.type, "1" if self.type == "int4" else "'a'")
        for below in self.descendants():
            if isinstance(below, Expr) and below.type == self.type:
                yield below


class Constant(Expr):
    """A literal. A parameter of a prepared statement may stand in its place."""


class Optional(Node):
    """A clause that may be left out as a whole."""

    def smaller(self):
        if self.parts:
            yield Optional()


class TotalOrder(Optional):
    """The ORDER BY of the whole statement, over all its columns: while it is there, the order of rows is compared."""


class Items(Node):
    """A list with separators. Items may go as long as `least` of them stay."""

    def __init__(self, nodes, separator=", ", least=1):
        super().__init__(*nodes)
        self.separator, self.least = separator, least

    def text(self):
        return self.separator.join(p if isinstance(p, str) else p.text() for p in self.parts)

    def smaller(self):
        count = len(self.parts)
        size = count // 2
        while size >= 1:
            for start in range(0, count, size):
                rest = self.parts[:start] + self.parts[start + size:]
                if len(rest) >= self.least and len(rest) < count:
                    yield self.with_parts(rest)
            size //= 2


class Either(Node):
    """A node of which one of its own parts may stay alone: an arm of a set operation, a side of a join."""

    def smaller(self):
        yield from (p for p in self.parts if isinstance(p, (Either, Alone)))


class Alone(Node):
    """A part that an Either may keep alone."""


def variants(node):
    """All trees that differ from `node` by one step; steps near the root, which take away most, come first."""
    level = [((), node)]
    while level:
        below = []
        for path, at in level:
            for other in at.smaller():
                yield replaced(node, path, other)
            below += [(path + (i,), p) for i, p in enumerate(at.parts) if isinstance(p, Node)]
        level = below


def replaced(node, path, other):
    if not path:
        return other
    parts = list(node.parts)
    parts[path[0]] = replaced(parts[path[0]], path[1:], other)
    return node.with_parts(parts)
