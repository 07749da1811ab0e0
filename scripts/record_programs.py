#!/usr/bin/env python3
"""Records what PostgreSQL 15 says to bodies of PL/pgSQL: rewrites the expected lines of tests/unit/sql/program/bodies.txt.

Usage: record_programs.py 'host=... port=... user=postgres dbname=...'   (an empty database; needs psycopg 3)
A case is a line "## signature", the lines of the body, and a line "=> " with what is expected: "ok", or
"ERROR 42601 @12: message [hint] {context}" where 12 counts the characters of the body. A newline in a message or context
is written as \\n. The signature is what stands before the body in CREATE, or "do". In bodies, "<variables>" stands for
VARIABLES.
"""
import os
import sys

import psycopg

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = os.path.join(ROOT, "tests/unit/sql/program/bodies.txt")
# also in tests/unit/sql/program/bodies_test.cpp
VARIABLES = """declare x int; y text; r record; c refcursor; v t; k constant int := 3; arr int[]; bc cursor for select 1; pc cursor (p int, q text) for select p, q; n numeric(10,2);"""
SETUP = """create table t (a int, b text); create schema s; create table s.t2 (x numeric(10,2));"""


def statementOf(signature, body):
    """The statement and the offset of the body in it."""
    begin = "do $body$" if signature == "do" else f"create {signature} language plpgsql as $body$"
    return begin + body + "$body$", len(begin)


def answerTo(connection, signature, body):
    statement, offset = statementOf(signature, body)
    try:
        connection.execute("begin")
        connection.execute(statement.encode())
        return "ok"
    except psycopg.Error as error:
        diagnostics = error.diag
        position = int(diagnostics.statement_position or 0) - offset
        text = f"ERROR {diagnostics.sqlstate}" + (f" @{position}" if position > 0 else "")
        text += ": " + diagnostics.message_primary
        if diagnostics.message_hint:
            text += f" [{diagnostics.message_hint}]"
        if diagnostics.context:
            text += f" {{{diagnostics.context}}}"
        return text.replace("\n", "\\n")
    finally:
        connection.execute("rollback")


def main():
    connection = psycopg.connect(sys.argv[1], autocommit=True)
    connection.execute(SETUP)
    out, signature, body = [], None, []
    with open(CASES, encoding="utf8") as file:
        for line in file.read().split("\n"):
            if line.startswith("## "):
                signature, body = line[3:], []
            elif line.startswith("=>"):
                line = "=> " + answerTo(connection, signature, "\n".join(body).replace("<variables>", VARIABLES))
            else:
                body.append(line)
            out.append(line)
    with open(CASES, "w", encoding="utf8") as file:
        file.write("\n".join(out))


main()
