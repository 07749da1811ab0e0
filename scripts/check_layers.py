#!/usr/bin/env python3
"""Holds the shape of the tree (ARCHITECTURE.md, "Rooms"). Prints what breaks a rule; exit 1 if anything does.

1. Who may include whom, between rooms (ALLOWED) and between the folders inside a room (FOLDERS). A quoted include is written
   from the repository root; its first path component is the room.
2. A folder has at most 25 sources.
3. Every source has a header of its own: `column_page.cpp` has `column_page.hpp`, or shares the header whose name its own continues
   (`decimal_text.cpp`, `decimal.hpp`). A source that has neither is named in the README of its room, see README_LINE.
4. Two classes of one namespace have two names. The linker would keep one of their destructors for both, without a word."""
import fnmatch
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BELOW_STORAGE = {"common", "io"}
ALLOWED = {
    "common": {"common"},
    "io": BELOW_STORAGE,
    "storage": BELOW_STORAGE | {"storage"},
    "catalog": BELOW_STORAGE | {"storage", "catalog"},
    "sql": BELOW_STORAGE | {"storage", "catalog", "sql"},
    "optimizer": BELOW_STORAGE | {"storage", "catalog", "sql", "optimizer"},
    "executor": BELOW_STORAGE | {"storage", "catalog", "sql/algebra", "sql/plan", "executor"},
    "protocol": {"common", "protocol"},
    "engine": BELOW_STORAGE | {"storage", "catalog", "sql", "optimizer", "executor", "engine"},
    "server": {"common", "io", "storage", "catalog", "sql", "optimizer", "executor", "engine", "protocol", "server"},
}
# Inside a room: each folder and the folders of the same room it may include besides itself. "" is the room's own folder. A
# folder that is not named here belongs to the nearest one above it that ends in "/".
STORES = {"object_store", "file"}
BIND = {"bind", "bind/state", "algebra", "parse"}
FUNCTIONS = {"function", "kernel"}
OPERATORS = {"operator", "pipeline", "materialize", "expression", "kernel", "policy"}
FOLDERS = {
    "common": {
        "": set(), "sync": set(), "error": {"sync"}, "env": {"error", "sync"}, "log": {"env", "error", "sync"}, "audit": {"env", "error", "log", "sync"}, "thread": {"env", "error", "sync"}, "text": {"error", "thread"},
        "value": {"error"}, "memory": {"error", "value", "sync"}, "number": {"error", "text", "memory", "value", "thread"},
        "calendar": {"error"}, "json": {"error", "text", "memory", "value", "number", "thread", "calendar"},
        "base_type": {"error", "text", "memory", "value", "thread"},
        "xml": {"error", "text", "memory", "value", "thread"},
        "type": {"base_type", "calendar", "error", "text", "memory", "value", "number", "json", "sync", "thread", "xml"}, "hash": {"number", "type", "value"}, "password": {"env", "error"}, "client": {"error", "log", "text", "value"},
    },
    "io": {
        "file": set(), "net": set(), "ring": {"net"}, "http": {"net", "ring"}, "object_store": set(), "sim": {"file"},
        "directory": STORES, "cache": STORES, "crypto": STORES, "s3": STORES | {"http", "ring"},
        "store": {"object_store", "directory", "cache", "crypto", "s3"}, "spill": {"file", "net", "ring", "crypto", "object_store", "s3", "store"},
        "format": {"object_store", "directory", "store"}, "format/csv": {"format"}, "format/json": {"format", "format/csv"}, "format/parquet": {"format", "format/csv"}, "remote": {"format", "format/csv"},
    },
    "storage": {
        "base": set(), "buffer": {"base"}, "json": {"base"}, "block": {"base", "buffer", "json"}, "version": {"base"}, "wal": {"base"},
        "chunk": {"base", "json", "block"}, "table": {"base", "buffer", "json", "block", "chunk", "version"}, "manifest": {"base", "block", "wal"},
        "database": {"base", "buffer", "json", "block", "chunk", "version", "wal", "table", "manifest"},
    },
    "catalog": {
        "builtin/": set(), "object/": {"builtin/"}, "editor": {"builtin/", "object/"}, "pg_catalog/": {"builtin/", "object/"},
        "": {"object/", "editor"},
    },
    "sql": {
        "parse": set(), "algebra": set(), "plan": {"algebra"}, "bind/state": {"parse", "algebra"}, "bind": {"bind/state", "algebra"},
        "bind/type": BIND, "bind/expression": BIND | {"bind/type"}, "bind/policy": BIND | {"bind/type", "bind/expression"},
        "bind/query": BIND | {"bind/type", "bind/expression", "bind/policy"},
        "bind/function": BIND | {"bind/type", "bind/expression", "bind/query"},
        "bind/dml": BIND | {"bind/type", "bind/expression", "bind/policy", "bind/query"},
        "bind/statement": BIND | {"bind/type", "bind/expression", "bind/policy", "bind/query", "bind/dml", "bind/function"},
        "deparse": BIND | {"bind/type"}, "program": BIND | {"bind/type", "bind/expression"},
    },
    "optimizer": {
        "query": set(), "cardinality": {"query"}, "rewrite": {"query", "cardinality"}, "lower": {"query", "cardinality"},
        "rewrite/grouping": {"query", "cardinality", "rewrite"},
        "join_order": {"query", "cardinality", "rewrite"}, "": {"query", "rewrite", "join_order", "lower"},
    },
    "executor": {
        "kernel": set(), "function": {"kernel"}, "function/number": FUNCTIONS, "function/json": FUNCTIONS, "function/text": FUNCTIONS,
        "function/date_time": FUNCTIONS, "function/xml": FUNCTIONS, "function/jsonpath": FUNCTIONS | {"function/text", "function/date_time"}, "function/array": FUNCTIONS | {"function/text"}, "function/base_type": FUNCTIONS, "function/row": FUNCTIONS,
        "function/range": FUNCTIONS, "function/program": FUNCTIONS,
        "function/system": FUNCTIONS | {"function/array", "function/text"}, "function/aggregate": FUNCTIONS | {"function/text", "function/json", "function/range", "function/xml"},
        "function/table": FUNCTIONS | {"function/text", "function/json", "function/jsonpath", "function/system", "function/xml"},
        "function/extension": FUNCTIONS | {"function/text", "function/table"},
        "function/text_search": FUNCTIONS | {"function/extension", "function/json", "function/table"},
        "expression": FUNCTIONS, "pipeline": {"expression", "function"}, "materialize": {"pipeline"}, "policy": set(),
        "operator": {"pipeline"}, "operator/sort": OPERATORS, "operator/flow": OPERATORS | {"operator/sort"},
        "operator/join": OPERATORS | {"operator/flow"}, "operator/fold": OPERATORS | {"function/aggregate"},
        "operator/aggregate": OPERATORS | {"operator/sort", "operator/fold", "function/aggregate"},
        "operator/window": OPERATORS | {"operator/sort", "operator/fold", "function", "function/aggregate"},
        "operator/scan": OPERATORS | {"operator/flow", "function/table"}, "operator/write": OPERATORS | {"operator/flow"},
        "schedule": {"pipeline", "materialize", "operator"},
    },
    "protocol": {"": set()},
    "engine": {
        "lock": set(), "setting": set(), "statement": set(), "large_object": set(), "core": {"lock", "setting", "statement", "large_object"}, "constraint": {"core"},
        "remote": {"core"},
        "query": {"core", "constraint", "statement", "large_object"},
        "copy": {"core", "query", "setting"}, "role": {"core", "query", "setting"},
        "definition/": {"core", "constraint", "query", "remote", "setting", "role", "program/"},
        "program/": {"core", "constraint", "query", "remote", "setting", "statement"}, "trigger": {"core", "query", "program/"},
        "relation": {"core", "constraint", "query", "setting", "role", "definition/"},
        "analyze": {"core", "query", "setting", "definition/"},
        "command": {"core", "constraint", "query", "remote", "copy", "analyze", "setting"},
        "session": {"core", "constraint", "query", "remote", "role", "program/", "trigger", "definition/", "relation", "command", "setting", "statement"},
    },
    "server": {"allocator": set(), "hba": set(), "metrics": set(), "": {"allocator", "hba", "metrics"}},
}
SOURCES_MAX = 25
# "- `lower/lowering.hpp`: `lower/*`, `plan.cpp`": these sources, which have no header of their own name, implement this header
# and include it. "- no header: `main.cpp`": nobody calls these. Paths begin in the README's folder; `*` stays in one folder.
README_LINE = re.compile(r"^- (?:`([\w/]+\.hpp)`|no header): (`.*)$", re.M)
README_HEADING = "## Sources without a header of their own"
# Only these may see io/sim (linked into test binaries only).
TEST_ONLY = "io/sim"
# The machine's clock, chance and threads are reached through these folders only.
CLOCKS = re.compile(r"std::(chrono::\w+_clock::now|random_device|j?thread\b(?!::))|\b(rand|srand|gettimeofday|clock_gettime)\(")
CLOCK_ROOMS = ("common/env/", "common/thread/", "io/", "executor/schedule/", "server/")

problems = []


def report(where, text):
    problems.append(f"{where}: {text}")


def productFiles():
    """All sources and headers of rooms, and the README of each."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.cpp", "*.hpp", "*.h"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split()
    return sorted(f for f in listed if f.split("/")[0] in ALLOWED and os.path.exists(os.path.join(ROOT, f)))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf8") as file:
        return file.read()


def folderOf(path):
    """The file's folder as FOLDERS names it; None when the table does not know it."""
    room, *below = os.path.dirname(path).split("/")
    table, folder = FOLDERS[room], "/".join(below)
    if folder in table:
        return folder
    for end in range(len(below), 0, -1):
        if "/".join(below[:end]) + "/" in table:
            return "/".join(below[:end]) + "/"
    return None


def checkTable():
    """FOLDERS names folders that exist and has no cycle, so that its rooms have floors."""
    for room, table in FOLDERS.items():
        for folder, allowed in table.items():
            if not os.path.isdir(os.path.join(ROOT, room, folder)):
                report("FOLDERS", f"{room}/{folder} does not exist")
            for unknown in sorted(allowed - set(table)):
                report("FOLDERS", f"{room}/{folder} may include {unknown}, which the table does not have")
        placed = set()
        while free := {f for f, allowed in table.items() if f not in placed and allowed & set(table) <= placed}:
            placed |= free
        if placed != set(table):
            report("FOLDERS", f"{room}: a cycle among {', '.join(sorted(set(table) - placed))}")


def checkInclude(where, path, target):
    room, parts = path.split("/")[0], target.split("/")
    if len(parts) == 1:
        report(where, f"write includes from the repository root: {target}")
    elif parts[0] in ALLOWED and parts[0] not in ALLOWED[room] and "/".join(parts[:2]) not in ALLOWED[room]:
        report(where, f"{room} must not include {target}")
    elif target.startswith(TEST_ONLY) and not path.startswith(TEST_ONLY):
        report(where, f"only tests may include {target}")
    elif parts[0] == room and folderOf(path) is not None:
        source, destination = folderOf(path), folderOf(target)
        if source != destination and destination not in FOLDERS[room][source]:
            report(where, f"{room}/{source} must not include {target}")


def checkLines(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}:{number}"
        if include := re.match(r'\s*#\s*include\s+"([^"]+)"', line):
            checkInclude(where, path, include.group(1))
        elif CLOCKS.search(line.split("//")[0]) and not path.startswith(CLOCK_ROOMS):
            report(where, f"clock, chance and threads belong to {', '.join(CLOCK_ROOMS)}")


def checkFolders(files):
    """Every folder with sources is in the table, and none has grown past what fits on a screen."""
    counts = {}
    for path in files:
        folder = os.path.dirname(path)
        counts[folder] = counts.get(folder, 0) + path.endswith(".cpp")
        if folderOf(path) is None:
            report(path, "its folder is not in the table FOLDERS")
    for folder, count in counts.items():
        if count > SOURCES_MAX:
            report(folder, f"{count} sources; {SOURCES_MAX} fit into a folder")


def hasOwnHeader(source, files):
    folder, stem = os.path.split(source[:-len(".cpp")])
    words = stem.split("_")
    return any(f"{folder}/{'_'.join(words[:n])}.hpp" in files for n in range(1, len(words) + 1))


def sharedHeaders(room):
    """(pattern of sources, header or None) as the room's README tells."""
    readme = f"{room}/README.md"
    if not os.path.exists(os.path.join(ROOT, readme)):
        return []
    _, _, section = read(readme).partition(README_HEADING)
    return [(f"{room}/{pattern}", f"{room}/{header}" if header else None)
            for header, patterns in README_LINE.findall(section.partition("\n#")[0]) for pattern in re.findall(r"`([^`]+)`", patterns)]


def matches(path, pattern):
    return os.path.dirname(path) == os.path.dirname(pattern) and fnmatch.fnmatch(os.path.basename(path), os.path.basename(pattern))


def checkOwnHeaders(files, texts):
    for room in ALLOWED:
        shared, used = sharedHeaders(room), set()
        for source in files:
            if not source.startswith(room + "/") or not source.endswith(".cpp") or hasOwnHeader(source, texts):
                continue
            mine = [(pattern, header) for pattern, header in shared if matches(source, pattern)]
            used.update(mine)
            if not mine:
                report(source, f'no header of its own name, and {room}/README.md does not say whose it is ("{README_HEADING[3:]}")')
            elif not any(header is None or f'#include "{header}"' in texts[source] for _, header in mine):
                report(source, f"does not include {mine[0][1]}, which {room}/README.md says it implements")
        for pattern, header in shared:
            if (pattern, header) not in used:
                report(f"{room}/README.md", f"no source without a header of its own is {pattern}")


def checkClassNames(texts):
    """Of classes that are defined at the left margin outside of nameless namespaces."""
    defined = {}
    for path, text in sorted(texts.items()):
        spaces = []
        for line in text.split("\n"):
            if opened := re.match(r"(?:inline )?namespace\s*([\w:]*)\s*\{", line):
                spaces.append(opened.group(1))
            elif line.startswith("} // namespace"):
                spaces.pop()
            elif "" not in spaces and (found := re.match(r"(?:class|struct|union)\s+(?:\w+\([^)]*\)\s*)?(\w+)(?:\s+final)?\s*(?::[^:;].*)?\{", line)):
                defined.setdefault("::".join([*spaces, found.group(1)]), set()).add(path)
    for name, paths in defined.items():
        if len(paths) > 1:
            report(name, f"has two definitions: {', '.join(sorted(paths))}")


def main():
    files = productFiles()
    texts = {path: read(path) for path in files}
    checkTable()
    for path, text in texts.items():
        checkLines(path, text)
    checkFolders(files)
    checkOwnHeaders(files, texts)
    checkClassNames(texts)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
