"""Compares Ouzel with PostgreSQL 15 over random schemas, data and statements.

    tests/differential/main.py --binary build/relassert/ouzel --seed 1 --count 10000

A difference is made smaller and printed with both answers. The same seed gives the same statements. It runs in a
virtual environment with psycopg, which it makes on first use, as the tests of client libraries do; it starts a throw-away
PostgreSQL unless --postgres names one."""
import argparse
import contextlib
import importlib.util
import os
import random
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(ROOT, "tests/clients"), os.path.join(ROOT, "scripts")]
from environment import inside_venv  # noqa: E402: what follows needs psycopg, which may be there only in this environment

if importlib.util.find_spec("psycopg") is None:
    inside_venv(os.path.join(ROOT, "build/clients-venv"))

from free_port import free_port
from record_expected import throw_away_postgres

import known
from changes import ChangeMaker, constraint_statements
from compare import COUNTED
from definitions import CATALOG, DefinitionMaker
from documents import DocumentMaker, DocumentTable
from expressions import Notes
from large import LargeMaker, LargeTable
from minimise import Case
from queries import QueryMaker
from record import Recorder
from run import RESTART, Run
from schema import random_table
from tree import Items, Node
from wrappers import wrap

QUERIES, CHANGES, LARGE, DEFINITIONS = 200, 40, 80, 40  # statements on one schema
# Settings of an Ouzel session that force rare paths; part of the schemas runs without any.
HARD_WAYS = [[], [], [], ["SET ouzel.vector_size = 2"], ["SET ouzel.spill_all = on"], ["SET ouzel.optimizer = off"],
             ["SET ouzel.hash_zero = on"], ["SET ouzel.block_twice = on"]]

# How documents are stored; the answers are the same.
EXTRACTIONS = [[], ["SET ouzel.json_extraction = tiles"], ["SET ouzel.json_extraction = global"], ["SET ouzel.json_extraction = none"]]

# How both sessions read and print dates and times; scalars run with each of these.
LOOKS = [("UTC", "ISO, MDY", "postgres"), ("Europe/Berlin", "ISO, DMY", "postgres"), ("America/New_York", "SQL, MDY", "sql_standard"),
         ("Australia/Lord_Howe", "German", "iso_8601"), ("Asia/Kolkata", "Postgres, DMY", "postgres_verbose"), ("UTC", "ISO, YMD", "postgres")]


def plain_notes(node=None):
    """For statements whose answers are compared exactly; one that asks for several things may fail at any of them."""
    notes = Notes()
    notes.exact = True
    notes.several = node is not None and any(isinstance(n, Items) and len(n.parts) > 1 for n in node.descendants())
    return notes


def prepare(run, rng, seed, tables, extra=()):
    """Make the tables on both servers; the Case to which statements are added. None if they differ already."""
    settings = rng.choice(HARD_WAYS) if run.args.hard_ways else []
    if isinstance(tables[0], (LargeTable, DocumentTable)) and known.avoided("".join(settings)):
        settings = []
    if isinstance(tables[0], DocumentTable):
        settings = settings + rng.choice(EXTRACTIONS)
    run.use_settings(settings)
    case = Case(tables, [], notes=plain_notes())
    for node, (expected, got) in zip(case.nodes(), run.fresh(case)):
        if run.check(case.copy(tables=[], node=node, changes=True), expected, got, f"seed {seed} setup"):
            return None
    if run.recorder:
        run.recorder.begin(case)
    for node in extra:
        if step(run, case, node, plain_notes(), f"seed {seed} setup"):
            return None
    return case


def step(run, case, node, notes, label, probes=()):
    """Run a statement that changes something. True when the servers have come apart."""
    one = case.copy(before=list(case.before), node=node, notes=notes, changes=True, probes=probes)
    run.statements += 1
    difference = run.difference(one, False)
    if difference:
        run.report(one, difference, label)
        return True
    if run.recorder:
        run.recorder.add(node.text(), run.answers[0], notes, one.ordered, True)
    case.before.append(node)
    return False


def query_schema(run, seed, make=QueryMaker.statement, failing=0.4, looks=None):
    rng = random.Random(seed)
    tables = [random_table(rng, f"t{i}") for i in range(rng.randint(1, 3))]
    case = prepare(run, rng, seed, tables)
    if not case:
        return
    if looks:
        set_looks(run, looks)
    for i in range(QUERIES):
        if run.statements >= run.args.count:
            return
        rng = random.Random(f"{seed}/{i}")
        maker = QueryMaker(rng, tables, rng.random() < failing)
        node = make(maker).node
        if make is QueryMaker.statement and rng.random() < run.args.wrapped:
            node = wrap(rng, node, maker.may_fail)
        one = case.copy(node=node, notes=maker.notes)
        run.statements += 1
        difference = run.difference(one, False)
        if run.has_failed():
            run.both("ROLLBACK")
        if difference:
            run.report(one, difference, f"seed {seed}/{i}")
        elif run.recorder:
            run.recorder.add(one.node.text(), run.answers[0], one.notes, one.ordered)


def change_schema(run, seed):
    rng = random.Random(seed)
    tables = [random_table(rng, f"t{i}") for i in range(rng.randint(1, 3))]
    for table in tables:
        table.primary = True
    probes = [f"SELECT * FROM {t.name}" for t in tables]
    case = prepare(run, rng, seed, tables, constraint_statements(rng, tables))
    if not case:
        return
    for i in range(CHANGES):
        rng = random.Random(f"{seed}/{i}")
        change = ChangeMaker(rng, tables).make(run.in_transaction(), run.has_failed())
        if step(run, case, change.node, change.notes, f"seed {seed}/{i}", probes):
            return
    record_probes(run, probes)


def large_schema(run, seed):
    """Queries, changes, checkpoints and restarts over large tables."""
    rng = random.Random(seed)
    checkpointed(run, rng, seed, [LargeTable(rng, f"t{i}") for i in range(2)], LargeMaker, "SELECT count(*), sum(id) FROM {}")


def document_schema(run, seed):
    """The same over jsonb documents."""
    rng = random.Random(seed)
    checkpointed(run, rng, seed, [DocumentTable(rng, f"t{i}") for i in range(2)], DocumentMaker,
                 "SELECT count(*), sum(id), md5(string_agg(doc::text, ',' ORDER BY id, doc::text)) FROM {}")


def checkpointed(run, rng, seed, tables, make, probe):
    """Statements that `make` makes over the tables, with checkpoints and restarts between; `probe` looks at a table."""
    case = prepare(run, rng, seed, tables)
    if not case:
        return
    probes = [probe.format(t.name) for t in tables]
    for i in range(LARGE):
        rng = random.Random(f"{seed}/{i}")
        maker, chance = make(rng, tables), rng.random()
        if chance < 0.04:
            nodes = [Node("CHECKPOINT")] + ([Node(RESTART[0])] if chance < 0.01 else [])
        else:
            nodes = [maker.change() if chance < 0.1 else maker.query()]
        for node in nodes:
            if step(run, case, node, maker.notes, f"seed {seed}/{i}", probes if chance < 0.1 else ()):
                return
            if chance >= 0.1:
                case.before.pop()  # a query changes nothing
    record_probes(run, probes)


def definition_schema(run, seed):
    rng = random.Random(seed)
    tables = [random_table(rng, f"t{i}", 5) for i in range(2)]
    case = prepare(run, rng, seed, tables)
    if not case:
        return
    for i in range(DEFINITIONS):
        rng = random.Random(f"{seed}/{i}")
        maker = DefinitionMaker(rng, run.state())
        node = maker.make(run.in_transaction())
        if rng.random() < run.args.restarts and not run.in_transaction():
            # Sequences may lose some numbers when a server is killed, so it is killed only where there are none.
            node = Node(RESTART[0] if run.recorder or maker.has_sequences() else rng.choice(RESTART))
        if step(run, case, node, plain_notes(node), f"seed {seed}/{i}", CATALOG):
            return
    record_probes(run, CATALOG)


def record_probes(run, probes):
    if run.recorder:
        run.recorder.add("ROLLBACK", run.left.run("ROLLBACK"), None, False, True)
        run.right.run("ROLLBACK")
        for sql in run.each(probes):
            run.recorder.add(sql, run.left.run(sql), plain_notes(), False)


def scalar_schema(run, seed):
    query_schema(run, seed, QueryMaker.scalar, 1, LOOKS[0] if run.recorder else LOOKS[seed % len(LOOKS)])
    set_looks(run, LOOKS[0])


def set_looks(run, looks):
    run.looks = "" if looks == LOOKS[0] else looks
    for name, value in zip(("timezone", "datestyle", "intervalstyle"), looks):
        run.both(f"SET {name} = '{value}'")


KINDS = {"scalars": scalar_schema, "queries": query_schema, "changes": change_schema, "large": large_schema,
         "documents": document_schema, "definitions": definition_schema}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", help="ouzel; without it, a server that runs at --port")
    parser.add_argument("--port", type=int, default=0, help="of ouzel; 0: a free one")
    parser.add_argument("--postgres", help="conninfo of a PostgreSQL 15; without it, one is started")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--kinds", default="queries,scalars,queries,changes,large,changes,documents,definitions", help="of schemas, in turn")
    parser.add_argument("--restarts", type=float, default=0.02, help="the chance of a restart between two definitions")
    parser.add_argument("--wrapped", type=float, default=0.15, help="the chance of a query to be prepared, or a cursor, a view, a table")
    parser.add_argument("--repeat", type=int, default=1, help="how many differences with one key are shown")
    parser.add_argument("--minimise-all", action="store_true")
    parser.add_argument("--hard-ways", action="store_true", help="sessions with settings that force rare paths")
    parser.add_argument("--show", action="store_true", help="print every statement")
    parser.add_argument("--record", metavar="DIR", help="write the cases that agree as .slt files; with one kind of schema")
    args = parser.parse_args()
    args.port = args.port or free_port()
    with contextlib.nullcontext(args.postgres) if args.postgres else throw_away_postgres() as args.postgres:
        return compare_servers(args)


def compare_servers(args):
    run, started, kinds = Run(args), time.monotonic(), args.kinds.split(",")
    if args.record:
        args.wrapped = 0  # strings of several statements do not run under the extended protocol
        run.recorder = Recorder(args.record, kinds[0], args.seed)
    for number in range(sys.maxsize):
        if run.statements >= args.count:
            break
        KINDS[kinds[number % len(kinds)]](run, args.seed * 1000000 + number)
        if run.recorder:
            run.recorder.end_of_schema()
    if run.recorder:
        run.recorder.write()
    seconds = time.monotonic() - started
    well = run.end()
    print(f"{run.statements} statements in {seconds:.0f} s ({run.statements / seconds:.0f} a second); PostgreSQL refused {run.failing}")
    for (kind, key), count in sorted(run.seen.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:7} {kind}: {key}")
    serious = sum(n for kind, n in run.counts.items() if kind not in COUNTED)
    print(f"{run.statements - serious} passed, {serious} failed; {dict(run.counts)}")
    return 1 if serious or not well else 0


if __name__ == "__main__":
    sys.exit(main())
