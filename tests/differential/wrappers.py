"""Other ways to ask a query: prepared, through a cursor, as a view, as a table. Each gives the query's own rows, once or more
often, in one string of statements."""
from tree import Constant, Node, Optional, replaced
from values import literal


def wrap(rng, query, may_fail):
    return rng.choice([prepared, prepared, cursor, view, table])(rng, query, may_fail)


def constants(node, path=()):
    """The paths to the constants of a tree."""
    for i, part in enumerate(node.parts):
        if isinstance(part, Constant):
            yield path + (i,), part
        elif isinstance(part, Node):
            yield from constants(part, path + (i,))


def prepared(rng, query, may_fail):
    """Some constants become parameters; their own values come first, then others, then often enough for a generic plan."""
    node, found, kinds, values = query, list(constants(query)), [], []
    for path, constant in rng.sample(found, min(len(found), rng.randint(0, 3))):
        kinds.append(constant.type)
        values.append(constant.text())
        node = replaced(node, path, Constant(constant.type, f"${len(kinds)}"))
    others = ", ".join(literal(rng, kind, may_fail) for kind in kinds)
    execute = lambda given: f"; EXECUTE p{'(' + given + ')' if given else ''}"
    again = Optional(execute(others) * rng.choice([0, 1, 5]))
    names = f"({', '.join(kinds)})" if kinds else ""
    return Node(f"DEALLOCATE ALL; PREPARE p{names} AS ", node, execute(", ".join(values)), again)


def cursor(rng, query, _):
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(0, 2))]
    fetches = "".join(f"FETCH {size} FROM c; " for size in sizes)
    return Node(f"BEGIN; DECLARE c {rng.choice(['', 'NO SCROLL '])}CURSOR FOR ", query, f"; {fetches}FETCH ALL FROM c; ROLLBACK")


def view(rng, query, _):
    return Node("BEGIN; CREATE VIEW v AS ", query, "; SELECT * FROM v; ROLLBACK")


def table(rng, query, _):
    return Node("BEGIN; CREATE TABLE made AS ", query, "; SELECT * FROM made; ROLLBACK")
