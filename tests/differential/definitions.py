"""Random CREATE, ALTER and DROP of tables, views, indexes, sequences and constraints, with rows and transactions between.

What exists is read from PostgreSQL's catalog after each statement, so that most statements name real objects."""
from known import avoided
from tree import Items, Node, Optional
from values import NUMBERS, ORDINARY, SCALARS, base, literal, quote, stored

HERE = "relnamespace = 'differential'::regnamespace"
# What the maker needs to know: relations with their columns; constraints.
STATE = [
    f"SELECT relname, relkind, attname, format_type(atttypid, atttypmod), attgenerated::text || attidentity::text FROM pg_class c "
    f"LEFT JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped WHERE {HERE} AND relkind IN ('r', 'v', 'S', 'i') "
    f"ORDER BY 1, attnum",
    f"SELECT conname, relname, contype FROM pg_constraint JOIN pg_class c ON c.oid = conrelid WHERE {HERE} ORDER BY 2, 1"]
# What has to be the same on both servers after each statement. "EACH" runs the statements that PostgreSQL's answer lists.
CATALOG = [
    f"SELECT relname, relkind, attname, format_type(atttypid, atttypmod), attnotnull, atthasdef, attidentity, attgenerated, attnum "
    f"FROM pg_class c LEFT JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND relkind <> 'i' WHERE {HERE}",
    f"SELECT conname, relname, contype, convalidated, condeferrable, condeferred, NULLIF(conkey, '{{}}'), confkey, confrelid::regclass, confdeltype "
    f"FROM pg_constraint JOIN pg_class c ON c.oid = conrelid WHERE {HERE}",
    f"SELECT relname, indrelid::regclass, indisunique, indisprimary, indkey FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE {HERE}",
    f"EACH SELECT format('SELECT * FROM %I', relname) FROM pg_class WHERE {HERE} AND relkind IN ('r', 'v') ORDER BY relname"]
LONG_NAMES = {"character varying": "varchar", "timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz",
              "time without time zone": "time", "time with time zone": "timetz", "integer": "int4", "bigint": "int8", "smallint": "int2",
              "double precision": "float8", "real": "float4", "boolean": "bool", "character": "bpchar"}
TABLES, COLUMNS = ["t0", "t1", "t2", "u0", '"Q x"'], ["id", "c0", "c1", "c2", "d0", "d1", '"D"', "e0"]
TYPES = sorted(set(SCALARS) - {"name", "bytea"}) + ["int4[]", "text[]", "numeric(12,4)", "varchar(20)"]


class DefinitionMaker:
    def __init__(self, rng, state):
        self.rng, self.failed = rng, state is None
        self.relations, self.constraints = {}, []
        if not self.failed:
            for name, kind, column, type_name, special in state[0]:
                self.relations.setdefault(self.quoted(name), (kind, []))[1].append((self.quoted(column), type_name, special))
            self.constraints = [(self.quoted(c), self.quoted(t), k) for c, t, k in state[1]]

    def has_sequences(self):
        return any(kind == "S" for kind, _ in self.relations.values())

    @staticmethod
    def quoted(name):
        return name if name is None or name.isidentifier() and name.islower() else f'"{name}"'

    def chance(self, probability):
        return self.rng.random() < probability

    def some(self, *kinds):
        """A relation of one of these kinds, or a name that may exist."""
        names = [n for n, (kind, _) in self.relations.items() if kind in kinds]
        return self.rng.choice(names) if names and not self.chance(0.03) else self.rng.choice(TABLES)

    def columns(self, table):
        return [c for c in self.relations.get(table, ("", []))[1] if c[0]] or [("c0", "int4", "")]

    def column(self, table):
        return self.rng.choice(self.columns(table)) if not self.chance(0.04) else (self.rng.choice(COLUMNS), "int4", "")

    def make(self, in_transaction):
        rng = self.rng
        if self.failed:
            return Node(rng.choice(["ROLLBACK", "ROLLBACK TO s", "COMMIT"]))
        if self.chance(0.12):
            return Node(rng.choice(["COMMIT", "ROLLBACK", "SAVEPOINT s", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"] if in_transaction else ["BEGIN"]))
        makers = [self.alter] * 9 + [self.rows] * 4 + [self.create_table, self.create_index, self.create_view, self.create_view,
                                                     self.sequence, self.sequence, self.drop, self.truncate, self.rename, self.comment]
        return rng.choice(makers)()

    def create_table(self):
        name, form = self.rng.choice(TABLES), self.rng.random()
        if form < 0.2:
            what = self.rng.choice(["", " INCLUDING ALL", " INCLUDING DEFAULTS", " INCLUDING INDEXES", " INCLUDING CONSTRAINTS"])
            return Node(f"CREATE TABLE {name} (LIKE {self.some('r', 'v')}{what})")
        if form < 0.35:
            return Node(f"CREATE TABLE {name} AS ", self.query())
        names = self.rng.sample(COLUMNS, self.rng.randint(1, 4))
        parts = [self.column_definition(c, None) for c in names]
        if self.chance(0.3):
            parts.append(self.table_constraint([(c, "int4", "") for c in names]))
        return Node("CREATE TABLE ", "IF NOT EXISTS " if self.chance(0.1) else "", f"{name} (", Items(parts), ")")

    def column_definition(self, name, table):
        rng, kind = self.rng, self.rng.choice(TYPES)
        special = rng.random()
        if special < 0.05:
            return Node(f"{name} {rng.choice(['serial', 'bigserial', 'smallserial'])}")
        if special < 0.1:
            return Node(f"{name} int4 GENERATED {rng.choice(['ALWAYS', 'BY DEFAULT'])} AS IDENTITY", Optional(f" (START {rng.randint(1, 50)} INCREMENT 2)"))
        if special < 0.15 and table:
            other, other_type, _ = self.column(table)
            if other_type in ("text", "integer", "bigint", "boolean") or not avoided("{date}::text generated"):
                return Node(f"{name} text GENERATED ALWAYS AS ({other}::text || 'g') STORED")
        parts = [f"{name} {kind}"]
        if self.chance(0.3) and not (table and kind.startswith("numeric(") and avoided("ADD COLUMN numeric(p,s) DEFAULT")):
            parts.append(Optional(f" DEFAULT {self.default(base(kind))}"))
        if self.chance(0.15):
            parts.append(Optional(" NOT NULL"))
        if self.chance(0.12):
            parts.append(Optional(rng.choice([" UNIQUE", " PRIMARY KEY"])))
        if self.chance(0.1):
            parts.append(Optional(f" CHECK ({name} IS NOT NULL)"))
        if self.chance(0.07):
            parts.append(Optional(f" REFERENCES {self.some('r')}" + rng.choice(["", " (id)", " ON DELETE CASCADE"])))
        return Node(*parts)

    def default(self, kind):
        """A constant for DEFAULT."""
        made = literal(self.rng, kind, False)
        return f"{quote('1' if kind in NUMBERS else '')}::text::{kind}" if "NULL" in made and avoided("DEFAULT NULL") else made

    def table_constraint(self, columns):
        rng, form = self.rng, self.rng.random()
        names = ", ".join(c[0] for c in rng.sample(columns, min(len(columns), rng.choice([1, 1, 2]))))
        label = Optional(f"CONSTRAINT {rng.choice(['k0', 'k1', 'k2'])} ") if self.chance(0.5) else ""
        timing = rng.choice(["", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED"])
        if form < 0.3:
            return Node(label, f"PRIMARY KEY ({names})")
        if form < 0.55:
            return Node(label, f"UNIQUE ({names}){timing}")
        if form < 0.75:
            column, kind, _ = rng.choice(columns)
            check = rng.choice([f"{column} IS NOT NULL", f"{column}::text <> 'b'", f"length({column}::text) < 12", "false", "1 > 0"])
            return Node(label, f"CHECK ({check})", rng.choice(["", " NOT VALID"]))
        other = self.some("r")
        keys = [c for c, t, k in self.constraints if t == other and k in "pu"]
        reference = other if keys and self.chance(0.5) else f"{other} ({self.column(other)[0]})"
        action = rng.choice(["", "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON UPDATE CASCADE"])
        return Node(label, f"FOREIGN KEY ({rng.choice(columns)[0]}) REFERENCES {reference}{action}{timing}", rng.choice(["", "", " NOT VALID"]))

    def alter(self):
        table = self.some("r")
        commands = [self.alter_command(table) for _ in range(1 if self.chance(0.85) or avoided("several commands of ALTER TABLE") else 2)]
        return Node(f"ALTER TABLE {table} ", Items(commands))

    def alter_command(self, table):
        rng, (column, kind, special) = self.rng, self.column(table)
        cascade = rng.choice(["", "", " CASCADE"])
        own = [c for c, t, _ in self.constraints if t == table]
        form = rng.randrange(13)
        if form <= 2:
            return Node("ADD COLUMN ", self.column_definition(rng.choice(COLUMNS), table))
        if form == 3:
            return Node(f"DROP COLUMN {'IF EXISTS ' if self.chance(0.2) else ''}{column}{cascade}")
        if form <= 5:
            new = rng.choice(TYPES) if self.chance(0.6) else {"int4": "int8", "integer": "bigint", "text": "varchar(20)"}.get(kind, "text")
            return Node(f"ALTER {column} TYPE {new}", Optional(f" USING {column}::text::{new}") if self.chance(0.5) else "")
        if form == 6:
            return Node(f"ALTER {column} SET DEFAULT {self.default(self.known_type(kind))}")
        if form == 7:
            return Node(f"ALTER {column} DROP {rng.choice(['DEFAULT', 'NOT NULL', 'EXPRESSION', 'IDENTITY'] if special else ['DEFAULT', 'NOT NULL'])}")
        if form == 8:
            return Node(f"ALTER {column} SET NOT NULL")
        if form <= 10 or not own:
            return Node("ADD ", self.table_constraint(self.columns(table)))
        if form == 11:
            return Node(f"DROP CONSTRAINT {rng.choice(own)}{cascade}")
        return Node(f"VALIDATE CONSTRAINT {rng.choice(own)}")

    @staticmethod
    def known_type(kind):
        for long, short in LONG_NAMES.items():
            kind = kind.replace(long, short)
        plain = base(kind)
        return plain if plain.removesuffix("[]") in {*ORDINARY, *NUMBERS, "varchar", "bpchar"} else "text"

    def rename(self):
        rng, table = self.rng, self.some("r", "v", "i", "S")
        kind = {"v": "VIEW", "i": "INDEX", "S": "SEQUENCE"}.get(self.relations.get(table, ("r",))[0], "TABLE")
        own = [c for c, t, _ in self.constraints if t == table]
        if own and self.chance(0.3):
            return Node(f"ALTER TABLE {table} RENAME CONSTRAINT {rng.choice(own)} TO k{rng.randrange(4)}")
        if kind in ("TABLE", "VIEW") and self.chance(0.6):
            return Node(f"ALTER {kind} {table} RENAME COLUMN {self.column(table)[0]} TO {rng.choice(COLUMNS)}")
        return Node(f"ALTER {kind} {table} RENAME TO {rng.choice(TABLES + ['n0', 'n1'])}")

    def query(self):
        """A query over one or two relations, for views and CREATE TABLE AS."""
        rng, table = self.rng, self.some("r", "v")
        columns = self.columns(table)
        picked = ", ".join(dict.fromkeys(c[0] for c in rng.choices(columns, k=rng.randint(1, 3))))
        form = rng.random()
        if form < 0.3:
            return Node(f"SELECT * FROM {table}")
        if form < 0.55:
            return Node(f"SELECT {picked} FROM {table}", Optional(f" WHERE {columns[0][0]} IS NOT NULL"))
        if form < 0.7:
            return Node(f"SELECT {picked}, count(*) AS n FROM {table} GROUP BY {columns[0][0]}")
        if form < 0.8:
            return Node(f"SELECT count(*) AS n, max({columns[-1][0]}::text) AS m FROM {table}")
        other = self.some("r", "v")
        return Node(f"SELECT x.*, y.{self.column(other)[0]} AS y0 FROM {table} x LEFT JOIN {other} y ON x.{columns[0][0]}::text = y.{self.columns(other)[0][0]}::text")

    def create_view(self):
        name = self.rng.choice(["v0", "v1", "v2"])
        return Node(f"CREATE {'OR REPLACE ' if self.chance(0.4) else ''}VIEW {name} AS ", self.query())

    def create_index(self):
        table = self.some("r")
        name = self.rng.choice(["", " i0", " i1", " IF NOT EXISTS i0"])
        columns = ", ".join(dict.fromkeys(self.column(table)[0] for _ in range(self.rng.randint(1, 2))))
        return Node(f"CREATE {'UNIQUE ' if self.chance(0.4) else ''}INDEX{name} ON {table} ({columns}{self.rng.choice(['', '', ' DESC'])})")

    def sequence(self):
        rng, name = self.rng, self.some("S") if self.chance(0.7) else f"s{self.rng.randrange(3)}"
        form = rng.randrange(8)
        options = rng.choice(["", " INCREMENT BY 2", " START 5", " MINVALUE -3 START -3", " MAXVALUE 4 CYCLE", " INCREMENT -1", " CACHE 1 MAXVALUE 3"])
        if form == 0:
            return Node(f"CREATE SEQUENCE {name}{options}")
        if form == 1:
            return Node(f"ALTER SEQUENCE {name}{rng.choice([options, ' RESTART', ' RESTART WITH 3', f' OWNED BY {self.some(chr(114))}.id'])}")
        if form <= 5:
            # How often a statement that fails has called nextval is free, so sequences of columns are only set.
            calls = ["nextval({})", "nextval({})", "currval({})", "lastval()"] if name in ("s0", "s1", "s2") else []
            call = rng.choice(calls + ["setval({}, 3)", "setval({}, 2, false)"])
            return Node("SELECT " + call.format(quote(name)))
        if form == 6:
            if self.relations.get(name, "S")[0] != "S" and avoided("DEFAULT nextval of no sequence"):
                name = "s0"
            return Node(f"ALTER TABLE {self.some('r')} ADD COLUMN {rng.choice(COLUMNS)} int8 DEFAULT nextval('{name}')")
        return Node(f"SELECT last_value, is_called FROM {name}")

    def drop(self):
        name = self.some("r", "v", "i", "S")
        kind = {"v": "VIEW", "i": "INDEX", "S": "SEQUENCE"}.get(self.relations.get(name, ("r",))[0], "TABLE")
        return Node(f"DROP {kind} {'IF EXISTS ' if self.chance(0.2) else ''}{name}{self.rng.choice(['', '', ' CASCADE', ' RESTRICT'])}")

    def truncate(self):
        return Node(f"TRUNCATE {self.some('r')}{self.rng.choice(['', ' RESTART IDENTITY', ' CASCADE'])}")

    def comment(self):
        table = self.some("r")
        what = self.rng.choice([f"TABLE {table}", f"COLUMN {table}.{self.column(table)[0]}"])
        return Node(f"COMMENT ON {what} IS {self.rng.choice(['NULL', quote('note')])}")

    def rows(self):
        """Rows in and out of a table or a view."""
        rng, table = self.rng, self.some("r", "r", "v")
        columns = [c for c in self.columns(table) if not c[2]]
        form = rng.random()
        if form < 0.6 and columns:
            picked = [c for c in columns if self.chance(0.8)] or columns
            row = lambda: Node("(", ", ".join(stored(rng, self.known_type(c[1]), False) if not self.chance(0.1) else "DEFAULT" for c in picked), ")")
            return Node(f"INSERT INTO {table} ({', '.join(c[0] for c in picked)}) VALUES ", Items([row() for _ in range(rng.randint(1, 3))]))
        if form < 0.65:
            return Node(f"INSERT INTO {table} DEFAULT VALUES")
        column, kind, _ = self.column(table)
        if form < 0.85:
            return Node(f"UPDATE {table} SET {column} = {stored(rng, self.known_type(kind), False)}", Optional(f" WHERE {self.column(table)[0]} IS NOT NULL"))
        return Node(f"DELETE FROM {table} WHERE {column}::text < '{rng.choice('0369a')}'")
