#!/usr/bin/env python3
"""Random functions in PL/pgSQL: PostgreSQL 15, Ouzel with compilation and Ouzel without answer alike, or with the same SQLSTATE.

    tests/differential/programs.py --ouzel "host=127.0.0.1 port=5433 user=postgres" --postgres "host=127.0.0.1 port=5432 user=postgres dbname=plan"
                                   [--seed 1] [--count 1000] [--seconds 0]

Needs psycopg. Each function has up to three arguments and some variables of numbers, booleans, dates and texts; branches, CASE, bounded
loops with labels, EXIT and CONTINUE, blocks with handlers, queries on a small table. It is called with edge values, alone and over rows."""
import argparse
import random
import sys
import time

import psycopg

TYPES = ["int4", "int8", "int2", "float8", "boolean", "numeric", "text", "date"]
WEIGHTS = [8, 4, 2, 3, 3, 2, 3, 1]
VALUES = {
    "int4": ["0", "1", "-1", "7", "12", "100", "2147483647", "-2147483648", "NULL"],
    "int8": ["0", "1", "-3", "40", "9223372036854775807", "NULL"],
    "int2": ["0", "2", "-5", "32767", "NULL"],
    "float8": ["0", "1.5", "-2.25", "'NaN'", "1e300", "NULL"],
    "boolean": ["true", "false", "NULL"],
    "numeric": ["0", "1.25", "-3.5", "1000", "NULL"],
    "text": ["''", "'a'", "'12'", "'Ouzel'", "NULL"],
    "date": ["'2020-02-28'", "'1999-12-31'", "NULL"],
}
NUMBERS = ("int4", "int8", "int2", "float8", "numeric")


class Generator:
    def __init__(self, rng):
        self.rng, self.labels, self.names, self.budget = rng, 0, 0, 0

    def type(self):
        return self.rng.choices(TYPES, WEIGHTS)[0]

    def literal(self, type):
        value = self.rng.choice(VALUES[type])
        return f"{value}::{type}" if type not in ("int4", "boolean") or value == "NULL" else value if not value.startswith("-") else f"({value})"

    def variable(self, scope, type):
        names = [name for name, of in scope if of == type]
        return self.rng.choice(names) if names else None

    def expression(self, scope, type, depth=2):
        r = self.rng
        if depth == 0 or r.random() < 0.25:
            return (r.random() < 0.75 and self.variable(scope, type)) or self.literal(type)
        sub = lambda of=type: self.expression(scope, of, depth - 1)
        choice = r.random()
        if choice < 0.1:
            return f"CASE WHEN {sub('boolean')} THEN {sub()} ELSE {sub()} END"
        if choice < 0.15:
            return f"coalesce({sub()}, {sub()})"
        if choice < 0.18 and depth == 2:
            column = {"int4": "k", "int8": "v::int8", "text": "t", "boolean": "k > 3"}.get(type)
            if column:
                return f"(SELECT {'min' if type != 'boolean' else 'bool_or'}({column}) FROM dp_rows WHERE dp_rows.k > {sub('int4')})"
        if type in ("int4", "int8", "int2"):
            op = r.choice(["+", "-", "*", "/", "%", "+", "-"])
            other = r.choice(["int4", "int2"]) if type == "int4" else r.choice(["int4", "int8"]) if type == "int8" else "int2"
            text = f"({sub()} {op} {sub(other)})"
            return r.choice([text, text, f"abs({sub()})", f"(-{sub()})"])
        if type == "float8":
            return r.choice([f"({sub()} {r.choice('+-*/')} {sub()})", f"{sub('int4')}::float8", f"abs({sub()})"])
        if type == "numeric":
            return r.choice([f"({sub()} {r.choice('+-*')} {sub()})", f"round({sub()}, 2)", f"{sub('int4')}::numeric"])
        if type == "boolean" and self.queries and r.random() < 0.15:
            return "FOUND"
        if type == "boolean":
            of = r.choice(["int4", "int8", "float8", "text", "date", "numeric", "boolean"])
            compare = f"({sub(of)} {r.choice(['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM'])} {sub(of)})"
            return r.choice([compare, compare, f"({sub()} AND {sub()})", f"({sub()} OR {sub()})", f"(NOT {sub()})", f"({sub(of)} IS NULL)",
                             f"({sub()} IS NOT TRUE)", f"({sub('int4')} IN (1, 2, {sub('int4')}))"])
        if type == "text":
            return r.choice([f"({sub()} || {sub()})", f"{sub('int4')}::text", f"upper({sub()})", f"substr({sub()}, 1, 2)"])
        return r.choice([f"({sub()} + {r.randrange(-3, 4)})", f"greatest({sub()}, {sub()})"])

    def assignment(self, scope):
        name, type = self.rng.choice([one for one in scope if not one[0].startswith("i_")])
        of = type
        if type in NUMBERS and self.rng.random() < 0.2:
            of = self.rng.choice(NUMBERS)
        return f"{name} := {self.expression(scope, of)};"

    def body(self, scope, depth, loops, returns):
        count = self.rng.randrange(1, 4)
        return " ".join(self.statement(scope, depth, loops, returns) for _ in range(count))

    def statement(self, scope, depth, loops, returns):
        r = self.rng
        kind = r.choices(["assign", "if", "case", "return", "for", "while", "exit", "into", "block", "handler", "null"],
                         [10, 5 * (depth > 0), 2 * (depth > 0), 1.5, 2 * (depth > 1) * self.loops, (depth > 1) * self.loops, 2 * bool(loops), 1.5 * self.queries,
                          0.7 * (depth > 0), 0.7 * (depth > 0) * self.handlers, 0.2])[0]
        inner = lambda scope=scope, loops=loops: self.body(scope, depth - 1, loops, returns)
        if kind == "assign":
            return self.assignment(scope)
        if kind == "if":
            text = f"IF {self.expression(scope, 'boolean')} THEN {inner()}"
            for _ in range(r.choice([0, 0, 1, 2])):
                text += f" ELSIF {self.expression(scope, 'boolean')} THEN {inner()}"
            return text + (f" ELSE {inner()}" if r.random() < 0.6 else "") + " END IF;"
        if kind == "case":
            of = r.choice(["int4", "text"])
            text = f"CASE {self.expression(scope, of)}" if r.random() < 0.5 else "CASE"
            when = (lambda: self.expression(scope, of, 1)) if text != "CASE" else (lambda: self.expression(scope, "boolean"))
            for _ in range(r.choice([1, 2])):
                text += f" WHEN {when()} THEN {inner()}"
            return text + (f" ELSE {inner()}" if r.random() < 0.85 else "") + " END CASE;"
        if kind == "return":
            return f"RETURN {self.expression(scope, returns)};"
        if kind in ("for", "while"):
            self.labels += 1
            label = f"l{self.labels}"
            counter = f"i_{self.labels}"
            head = f"<<{label}>> " if r.random() < 0.5 else ""
            body = inner(scope + [(counter, "int4")], loops + [label if head else ""])
            if kind == "for":
                bounds = r.choice([f"1..{r.randrange(1, 6)}", f"REVERSE {r.randrange(1, 6)}..0", f"0..9 BY {r.randrange(1, 5)}", f"{self.variable(scope, 'int2') or 1}..3"])
                if ".." in bounds and not bounds[0].isdigit() and not bounds.startswith("REVERSE"):
                    bounds = f"greatest(coalesce({bounds.split('..')[0]}, 1), -3)..3"
                return f"{head}FOR {counter} IN {bounds} LOOP {body} END LOOP;"
            return (f"DECLARE {counter} int4 := 0; BEGIN {head}WHILE {self.expression(scope, 'boolean', 1)} LOOP {counter} := {counter} + 1; "
                    f"EXIT WHEN {counter} > {r.randrange(2, 6)}; {body} END LOOP; END;")
        if kind == "exit":
            label = r.choice(loops)
            when = f" WHEN {self.expression(scope, 'boolean', 1)}" if r.random() < 0.8 else ""
            return f"{r.choice(['EXIT', 'CONTINUE'])} {label}{when};"
        if kind == "into":
            targets = [one for one in scope if not one[0].startswith("i_")]
            name, type = r.choice(targets)
            column = {"int4": "k", "int8": "v::int8", "text": "t", "numeric": "v::numeric", "int2": "k::int2", "float8": "v::float8"}.get(type)
            if not column:
                return self.assignment(scope)
            return f"SELECT {column} INTO {name} FROM dp_rows WHERE dp_rows.k = {self.expression(scope, 'int4', 1)};"
        if kind == "block":
            self.names += 1
            type = self.type()
            name = f"n{self.names}"
            return f"DECLARE {name} {type} := {self.expression(scope, type, 1)}; BEGIN {inner(scope + [(name, type)])} END;"
        if kind == "handler":
            condition = r.choice(["division_by_zero", "numeric_value_out_of_range", "OTHERS"])
            return f"BEGIN {inner()} EXCEPTION WHEN {condition} THEN {inner()} END;"
        return "NULL;"

    def function(self, number):
        r = self.rng
        self.loops, self.queries, self.handlers = r.random() < 0.5, r.random() < 0.5, r.random() < 0.2
        arguments = [(f"a{i}", self.type()) for i in range(r.randrange(1, 4))]
        variables = [(f"v{i}", self.type()) for i in range(r.randrange(1, 4))]
        returns = self.type()
        scope, declared = list(arguments), []
        for name, type in variables:
            declared.append(f"{name} {type}" + (f" := {self.expression(scope, type, 1)}" if r.random() < 0.7 else "") + ";")
            scope.append((name, type))
        body = self.body(scope, 3, [], returns)
        if r.random() < 0.9:
            body += f" RETURN {self.expression(scope, returns)};"
        volatility = r.choice(["", " STABLE", " IMMUTABLE" if not self.queries else " STABLE"])
        strict = " STRICT" if r.random() < 0.15 else ""
        name = f"dp_{number}"
        return name, [type for _, type in arguments], (f"CREATE FUNCTION {name}({', '.join(f'{n} {t}' for n, t in arguments)}) RETURNS {returns} LANGUAGE plpgsql"
                                                       f"{volatility}{strict} AS $$ DECLARE {' '.join(declared)} BEGIN {body} END $$")


def answer(connection, sql):
    try:
        return [tuple(None if v is None else str(v) for v in row) for row in connection.execute(sql, prepare=False).fetchall()]
    except psycopg.Error as error:
        return error.sqlstate or str(error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ouzel", required=True)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0)
    args = parser.parse_args()
    ouzel, run, postgres = (psycopg.connect(c, autocommit=True) for c in (args.ouzel, args.ouzel, args.postgres))
    run.execute("SET ouzel.compile_programs = off")
    for connection in (ouzel, postgres):
        connection.execute("DROP TABLE IF EXISTS dp_rows")
        connection.execute("CREATE TABLE dp_rows (k int4 PRIMARY KEY, v int4, t text)")
        connection.execute("INSERT INTO dp_rows SELECT i, NULLIF(i * 3, 9), 't' || i FROM generate_series(1, 8) AS i")
    for connection in (ouzel, run, postgres):
        connection.execute("SET statement_timeout = 10000")
        connection.execute("SET synchronous_commit = off")  # each program is made and dropped
    differences, refused, compiled, began = 0, 0, 0, time.time()
    for number in range(args.count):
        if args.seconds and time.time() - began > args.seconds:
            break
        seed = args.seed * 1_000_003 + number
        rng = random.Random(seed)
        generator = Generator(rng)
        name, types, definition = generator.function(number)
        made = []
        for connection in (ouzel, postgres):
            try:
                connection.execute(definition)
                made.append(None)
            except psycopg.Error as error:
                made.append(error.sqlstate)
        if made != [None, None]:
            if made[0] != made[1]:
                differences += 1
                print(f"seed {seed}: {made}\n{definition}\n", flush=True)
            refused += made[1] is not None
        else:
            calls = []
            for _ in range(4):
                calls.append(f"SELECT {name}({', '.join(f'{rng.choice(VALUES[t])}::{t}' for t in types)})")
            columns = [f"x{i}" for i in range(len(types))]
            rows = ", ".join("(" + ", ".join(f"{rng.choice(VALUES[t])}::{t}" for t in types) + ")" for _ in range(3))
            calls.append(f"SELECT {name}({', '.join(columns)}) FROM (VALUES {rows}) AS v({', '.join(columns)})")
            plan = answer(ouzel, "EXPLAIN (VERBOSE) " + calls[-1])
            compiled += isinstance(plan, list) and any(": compiled" in row[0] for row in plan)
            for call in calls:
                answers = [answer(c, call) for c in (ouzel, run, postgres)]
                if isinstance(answers[2], str):
                    # PostgreSQL plans a text that has failed once for the values of its variables from then on, and 1 / 0 in a
                    # branch that they rule out fails no more.
                    postgres.execute(definition.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))
                if " FROM (VALUES" in call:  # in which order rows come and fail is not said
                    answers = ["an error" if isinstance(one, str) else sorted(one, key=str) for one in answers]
                if answers[0] != answers[2] or answers[1] != answers[2]:
                    differences += 1
                    print(f"seed {seed}: compiled {answers[0]}, run {answers[1]}, postgres {answers[2]}\n{call};\n{definition};\n", flush=True)
                    break
        for connection in (ouzel, postgres):
            connection.execute(f"DROP FUNCTION IF EXISTS {name}")
    print(f"{number + 1} programs, {compiled} compiled, {refused} refused by both, {differences} differences")
    return differences > 0


if __name__ == "__main__":
    sys.exit(main())
