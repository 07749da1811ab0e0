#!/usr/bin/env python3
"""Holds what documents name: everything that ARCHITECTURE, the READMEs, CONTRIBUTING and docs/ call by name exists.

Looked at are links, `make` targets, --options, and what stands in backticks: paths (from the root, from the document's folder, or the
name of a file anywhere), `Class::method`, functions, names with inner capitals, settings (`ouzel.commit`), snake_case names and
OUZEL_VARIABLES. Prints what does not exist; exit 1 if there is any."""
import fnmatch
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENTS = ("ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "docs/*.md", "*/README.md")
# What documents name is looked for in files of these kinds and names.
CODE = re.compile(r"\.(cpp|hpp|h|inc|def|py|txt|cmake|yml|json|sh|conf|supp|pt)$|(^|/)[^./]+$")
FILE_NAME = re.compile(r"\.(cpp|hpp|h|inc|def|py|md|txt|cmake|yml|slt|conf|json|supp|patch)$")
# What other programs call so (docker's options, libpq's parameters), and what ours leaves on a disk.
OTHERS = {"--memory", "--stop-timeout", "--no-deps", "--detach", "--wait", "stop_grace_period", "target_session_attrs", "wal/", "writer/"}


def gitFiles():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [f for f in listed.stdout.split("\n") if f and os.path.isfile(os.path.join(ROOT, f))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf8", errors="replace") as file:
        return file.read()


class Tree:
    """What there is to be named."""

    def __init__(self):
        self.files = gitFiles()
        self.paths = set(self.files) | {"/".join(f.split("/")[:n]) for f in self.files for n in range(1, f.count("/") + 1)}
        self.names = {os.path.basename(f) for f in self.files}
        self.texts = {f: read(f) for f in self.files if CODE.search(f) and f != "scripts/check_docs.py"}
        everything = "\n".join(self.texts.values())
        self.words = set(re.findall(r"\w+", everything))
        self.quoted = set(re.findall(r'["/](ouzel\.\w+)"', everything))
        self.settings = set(re.findall(r'^"([\w.]+)\\t', read("engine/setting/settings_ouzel.inc") +
                            read("engine/setting/settings_extensions.inc") +
                                       read("engine/setting/settings_postgres.inc"), re.M))
        self.serverOptions = set(re.findall(r'^ *\{"([a-z][\w-]*)", ', read("server/options.cpp"), re.M))
        self.options = {f"--{o}" for o in self.serverOptions} | set(re.findall(r"--[a-z][\w-]*", everything)) | self.optionsOfTools()
        self.variables = {"OUZEL_" + o.replace("-", "_").upper() for o in self.serverOptions}
        self.targets = {t for line in re.findall(r"^([a-z][\w -]*):", read("Makefile"), re.M) for t in line.split()}

    def optionsOfTools(self):
        """Tests' and benchmarks' programs also name an option "ms_per_mib"."""
        quoted = [q for f, text in self.texts.items() if f.startswith(("tests/", "bench/")) for q in re.findall(r'"([a-z]\w+)"', text)]
        return {"--" + name.replace("_", "-") for name in quoted}

    def hasPath(self, path, folder):
        """A whole path from the root or the document's folder, the end of one, or a file's name."""
        path = path.strip("/")
        if "*" in path:
            wanted = [path, f"{folder}/{path}", f"*/{path}"]
            return any(fnmatch.fnmatch(p, w) for p in self.paths for w in wanted)
        if path in self.paths or os.path.normpath(os.path.join(folder, path)) in self.paths or path in self.names:
            return True
        return "/" in path and "." in path and any(p.endswith("/" + path) for p in self.files)

    def hasMember(self, owner, member):
        """`Owner::member` is written so somewhere, or one file speaks of both and declares the owner."""
        declares = re.compile(rf"\b(class|struct|namespace|enum class|using) {owner}\b")
        speaks = re.compile(rf"\b{member}\b")
        return any(f"{owner}::{member}" in text or (declares.search(text) and speaks.search(text))
                   for text in self.texts.values() if owner in text and member in text)


def expandBraces(text):
    found = re.search(r"\{([^{}]*,[^{}]*)\}", text)
    if not found:
        return [text]
    return [e for part in found.group(1).split(",") for e in expandBraces(text[:found.start()] + part.strip() + text[found.end():])]


def isPath(token, tree, folder):
    if not re.fullmatch(r"[\w./*,{}-]+", token) or token.startswith(("/", ".", "-")):
        return False
    if FILE_NAME.search(token):
        return True
    # Without a file's ending it is a path when it begins in the tree: `pg_catalog/` does, `text/binary` does not.
    first = re.split(r"[/{*]", token)[0]
    return "/" in token and (first in tree.paths or f"{folder}/{first}" in tree.paths or token.endswith("/"))


def missingInToken(token, tree, folder):
    """What the token names and nothing is called; None when all is well or it is no name."""
    token = token.strip(",;:")
    if token in OTHERS:
        return None
    if isPath(token, tree, folder):
        return next((p for p in expandBraces(token) if not tree.hasPath(p, folder)), None)
    if found := re.fullmatch(r"(?:\w+::)*(\w+)::(\w+)(?:\(.*)?", token):
        known = found.group(1) == "std" or tree.hasMember(found.group(1), found.group(2))
        return None if known else token
    if found := re.fullmatch(r"(ouzel\.\w+)(=.*)?", token):
        return None if found.group(1) in tree.settings | tree.quoted else token
    if found := re.fullmatch(r"(OUZEL_\w+)(=.*)?", token):
        return None if found.group(1) in tree.variables | tree.words else token
    if found := re.fullmatch(r"(\w+)\(.*|([a-z]\w*_\w+|\w*[a-z][A-Z]\w*)(\{\w+\})?", token):
        name = found.group(1) or found.group(2)
        isName = "_" in name or re.search("[a-z][A-Z]", name)
        return token if isName and name not in tree.words | tree.settings else None
    return None


def commands(text):
    """Indented lines and what stands in backticks: (text, number of its line)."""
    for number, line in enumerate(text.split("\n"), 1):
        spans = re.findall(r"`([^`]+)`", line)
        for span in [line] if line.startswith("    ") else spans:
            yield span, number


def check(document, tree):
    """Yields (line, what does not exist)."""
    folder, text = os.path.dirname(document), read(document)
    for number, line in enumerate(text.split("\n"), 1):
        for link in re.findall(r"\]\(([^)#]+)", line):
            if "://" not in link and not tree.hasPath(link, folder):
                yield number, f"link to {link}"
    for span, number in commands(text):
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", span):
            if option not in tree.options | OTHERS:
                yield number, f"option {option}"
        for target in re.findall(r"\bmake ([a-z][\w-]*)", span):
            if target not in tree.targets:
                yield number, f"make {target}"
        if span.startswith("    "):
            continue
        for token in span.split():
            if missing := missingInToken(token, tree, folder):
                yield number, missing


def main():
    tree, bad = Tree(), 0
    for document in tree.files:
        if any(fnmatch.fnmatch(document, pattern) for pattern in DOCUMENTS):
            for number, missing in check(document, tree):
                print(f"{document}:{number}: there is no {missing}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
