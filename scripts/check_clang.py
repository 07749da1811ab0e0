#!/usr/bin/env python3
"""Looks at the product's sources with clang: the checks of .clang-tidy, clang's own warnings, and the thread annotations of
common/sync/mutex.hpp (who holds what when a guarded member is touched), all in one pass. Then compiles each header alone.

    scripts/check_clang.py [path...]        all sources and headers of rooms, or those below the paths
    scripts/check_clang.py --recent N       those that the last N commits changed, themselves or their headers, or that are not committed

Needs build/relassert to be configured (its compile commands). A file that was found good, and that is as it was, itself and
what it includes itself, is not looked at again, in no checkout of this machine: ~/.cache/ouzel/clang has a stamp for each.
What a change further away does to a file's types and locks, the preset `debug` tells, which clang compiles."""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("common", "io", "storage", "catalog", "sql", "optimizer", "executor", "engine", "protocol", "server")
BUILD = os.path.join(ROOT, "build/clang")
STAMPS = os.path.expanduser("~/.cache/ouzel/clang")
STAMP_DAYS = 30
CLANG, TIDY = "clang++-22", "clang-tidy-22"
WARNINGS = ["-Wall", "-Wthread-safety", "-Wsuggest-override", "-Wrange-loop-analysis", "-Wno-deprecated-declarations"]
# The standard's headers that at least so many of our files include are read once, for all.
COMMON_FROM = 20


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf8") as file:
        return file.read()


def run(command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


class Product:
    """Files of the rooms and what they include of each other."""

    def __init__(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *ROOMS], cwd=ROOT, capture_output=True,
                                text=True, check=True).stdout.split("\n")
        self.texts = {f: read(f) for f in listed if f.endswith((".cpp", ".hpp", ".inc", ".def")) and os.path.exists(os.path.join(ROOT, f))}
        self.includes = {f: [i for i in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M) if i in self.texts]
                         for f, text in self.texts.items()}
        self.hashes = {f: hashlib.sha256(text.encode()).digest() for f, text in self.texts.items()}

    def sources(self):
        return [f for f in self.texts if f.endswith(".cpp")]

    def firstInclude(self, source):
        found = re.search(r'^\s*#\s*include\s+["<]([^">]+)', self.texts[source], re.M)
        return found.group(1) if found else None

    def loneHeaders(self):
        """Headers that no source includes first: a source that does shows that the header compiles alone."""
        first = {self.firstInclude(f) for f in self.sources()}
        return [f for f in self.texts if f.endswith(".hpp") and f not in first]

    def digest(self, file):
        """Of the file and what it includes itself."""
        return b"".join(self.hashes[f] for f in sorted({file, *self.includes[file]}))

    def commonHeaders(self):
        counts = {}
        for text in self.texts.values():
            for header in re.findall(r"^#include <([a-z_]+)>", text, re.M):
                counts[header] = counts.get(header, 0) + 1
        return sorted(h for h, count in counts.items() if count >= COMMON_FROM)


def compileFlags():
    """What the product is compiled with, less warnings, optimisation and outputs: the same for all files."""
    with open(os.path.join(ROOT, "build/relassert/compile_commands.json"), encoding="utf8") as file:
        commands = json.load(file)
    flags = []
    for entry in commands:
        if os.path.relpath(entry["file"], ROOT).split("/")[0] not in ROOMS:
            continue
        words = shlex.split(entry["command"])
        for i, word in enumerate(words):
            flag = ["-isystem", words[i + 1]] if word == "-isystem" else [word]
            if re.match(r"-(D|I|isystem|std=|march=|pthread)", word) and flag not in flags:
                flags.append(flag)
    return [word for flag in flags for word in flag]


def precompile(headers, flags):
    """The option that reads the standard's headers from one file, which is made when it is not there."""
    text = "".join(f"#include <{h}>\n" for h in headers)
    name = hashlib.sha256((text + " ".join(flags)).encode()).hexdigest()[:16]
    header, binary = f"{BUILD}/{name}.hpp", f"{BUILD}/{name}.pch"
    if not os.path.exists(binary):
        with open(header, "w", encoding="utf8") as file:
            file.write(text)
        code, output = run([CLANG, "-x", "c++-header", *flags, header, "-o", binary])
        if code != 0:
            sys.exit(output)
    return ["-include-pch", binary]


def recentFiles(commits):
    """What the last commits changed, and what is not committed. In a clone without a history: all."""
    changed = run(["git", "log", f"-{commits}", "--format=", "--name-only"])[1] + run(["git", "ls-files", "-mo", "--exclude-standard"])[1]
    return set(changed.split("\n"))


def main():
    os.makedirs(BUILD, exist_ok=True)
    os.makedirs(STAMPS, exist_ok=True)
    product, flags = Product(), compileFlags()
    reuse = precompile(product.commonHeaders(), flags)
    tidy = [TIDY, "--quiet"], ["--", *reuse, *flags, *WARNINGS]
    header = [CLANG, "-fsyntax-only", "-x", "c++", "-Wno-pragma-once-outside-header", *flags, *WARNINGS, "-Werror"], []
    tasks = [(f, tidy) for f in product.sources()] + [(f, header) for f in product.loneHeaders()]
    if sys.argv[1:2] == ["--recent"]:
        recent = recentFiles(int(sys.argv[2]))
        tasks = [task for task in tasks if recent & {task[0], product.firstInclude(task[0]) if task[1] is tidy else None}]
    elif sys.argv[1:]:
        tasks = [task for task in tasks if task[0].startswith(tuple(sys.argv[1:]))]
    salt = (run([TIDY, "--version"])[1] + read(".clang-tidy") + read("scripts/check_clang.py") + " ".join(flags).replace(ROOT, "")).encode()
    stamps = {f: f"{STAMPS}/{hashlib.sha256(salt + product.digest(f)).hexdigest()[:32]}.ok" for f, _ in tasks}

    def check(task):
        file, (before, after) = task
        if os.path.exists(stamps[file]):
            os.utime(stamps[file])
            return False, ""
        code, output = run([*before, file, *after])
        if code == 0:
            open(stamps[file], "w").close()
        else:
            output = re.sub(r"^\d+ (warnings?|errors?).*generated.*\n", "", output, flags=re.M)
        return True, f"{file}\n{output}" if code != 0 else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = list(pool.map(check, tasks))
    bad = [output for _, output in results if output]
    print("".join(bad), end="")
    print(f"{len(tasks)} files, {sum(ran for ran, _ in results)} looked at, {len(bad)} with findings")
    for name in os.listdir(STAMPS):
        if time.time() - os.path.getmtime(f"{STAMPS}/{name}") > STAMP_DAYS * 86400:
            os.remove(f"{STAMPS}/{name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
