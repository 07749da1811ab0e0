#!/usr/bin/env python3
"""Holds who may include whom (ARCHITECTURE.md, "Rooms"). Prints offending includes; exit 1 if there are any.

A quoted include is written from the repository root; its first path component is the room."""
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
# Only these may see io/sim (DESIGN: linked into test binaries only).
TEST_ONLY = "io/sim"
# STYLE 9: the machine's clock, chance and threads are reached through these rooms only.
CLOCKS = re.compile(r"std::(chrono::\w+_clock::now|random_device|j?thread\b(?!::))|\b(rand|srand|gettimeofday|clock_gettime)\(")
CLOCK_ROOMS = ("common/env/", "common/thread/", "io/", "executor/schedule/", "server/")


def main():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.cpp", "*.hpp", "*.h"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split()
    bad = 0
    for path in files:
        room = path.split("/")[0]
        if room not in ALLOWED or not os.path.exists(os.path.join(ROOT, path)):
            continue
        for number, line in enumerate(open(os.path.join(ROOT, path), encoding="utf8"), 1):
            include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if include:
                target = include.group(1)
                parts = target.split("/")
                if len(parts) == 1:
                    print(f"{path}:{number}: write includes from the repository root: {target}")
                    bad += 1
                elif parts[0] in ALLOWED and parts[0] not in ALLOWED[room] and "/".join(parts[:2]) not in ALLOWED[room]:
                    print(f"{path}:{number}: {room} must not include {target}")
                    bad += 1
                elif target.startswith(TEST_ONLY) and not path.startswith(TEST_ONLY):
                    print(f"{path}:{number}: only tests may include {target}")
                    bad += 1
            elif CLOCKS.search(line.split("//")[0]) and not path.startswith(CLOCK_ROOMS):
                print(f"{path}:{number}: clock, chance and threads belong to {', '.join(CLOCK_ROOMS)}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
