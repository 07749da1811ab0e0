#!/usr/bin/env python3
"""Each name of the standard library that a file uses comes from a header that the file includes, itself or through headers of
ours. A compiler does not tell: the precompiled headers (cmake/precompiled.cmake) bring nearly all names to all sources.
Prints what is missing; exit 1 if anything is."""
import re
import sys

from check_clang import Product

# A header and what only it brings; std:: is left out.
NAMES = {
    "array": "array", "atomic": "atomic(?:_flag)?", "bit": "bit_cast|bit_ceil|bit_width|countl_zero|countr_zero|popcount|has_single_bit",
    "charconv": "from_chars|to_chars", "chrono": "chrono", "deque": "deque", "filesystem": "filesystem", "fstream": "[io]?fstream",
    "functional": "function", "future": "future|promise", "list": "list", "map": "(?:multi)?map",
    "memory": "unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared", "mutex": "mutex|lock_guard|unique_lock|scoped_lock|once_flag",
    "condition_variable": "condition_variable", "numeric": "accumulate|iota|gcd|lcm", "optional": "optional|nullopt",
    "queue": "(?:priority_)?queue", "random": "mt19937(?:_64)?", "regex": "regex", "set": "(?:multi)?set", "shared_mutex": "shared_mutex",
    "span": "span", "sstream": "[io]?stringstream", "stack": "stack", "thread": "thread|jthread|this_thread", "unordered_map": "unordered_map",
    "unordered_set": "unordered_set", "variant": "variant|monostate|holds_alternative|get_if", "vector": "vector",
    "algorithm": "sort|stable_sort|ranges::sort|lower_bound|upper_bound|binary_search|nth_element|unique|reverse|rotate|all_of|any_of|none_of",
    "cmath": "isnan|isinf|isfinite|sqrt|pow|floor|ceil|trunc|nearbyint|ldexp|frexp|exp|log", "cstring": "memcpy|memcmp|memmove|memset|strlen",
}
PATTERNS = {header: re.compile(rf"\bstd::(?:{names})\b") for header, names in NAMES.items()}


def main():
    product = Product()
    standard = {f: re.findall(r"^\s*#\s*include\s+<([\w/.]+)>", text, re.M) for f, text in product.texts.items()}

    def reached(path):
        seen, pending, headers = {path}, [path], set()
        while pending:
            file = pending.pop()
            headers.update(standard[file])
            pending += [i for i in product.includes[file] if i not in seen]
            seen.update(product.includes[file])
        return headers

    problems = []
    for path, text in sorted(product.texts.items()):
        if not path.endswith((".cpp", ".hpp")):
            continue
        code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text)
        headers = reached(path)
        for header, pattern in PATTERNS.items():
            if header not in headers and (found := pattern.search(code)):
                problems.append(f"{path}: {found.group(0)} needs <{header}>")
    print("\n".join(problems + [f"{len(problems)} includes are missing"] if problems else ["includes: fine"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
