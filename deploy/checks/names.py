#!/usr/bin/env python3
"""Checks that no two files define a class of the same name that the linker can see.

All libraries are linked into one process somewhere (the embedded cluster, the Python module), where
two classes of one name are one to the linker: it keeps one of two destructors, and the other class
is destroyed with the wrong one. No compiler or linker says so.

usage: deploy/checks/names.py [--self-test]
"""

import re
import sys

import sources

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S
)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
TOKEN = re.compile(
    r"\bnamespace\s+(?P<space>[\w:]*)\s*\{"
    r"|\b(?P<specialized>template\s*<\s*>\s*)?(?<!enum )\b(?:class|struct|union)\s+"
    r"(?:\[\[[^\]]*\]\]\s*|__attribute__\s*\(\(.*?\)\)\s*)*(?P<name>\w+)\s*(?:final\s*)?"
    r"(?::(?!:)[^;{()]*)?\{"
    r"|(?P<open>\{)|(?P<close>\})"
)


def definitions(text):
    """Yields (qualified name, line) of each class that has external linkage."""
    blank = lambda match: "\n" * match.group(0).count("\n") or " "
    text = PREPROCESSOR.sub(blank, NOISE.sub(blank, text))
    scopes = []  # names of the namespaces around; None: something that hides names
    for token in TOKEN.finditer(text):
        if token.group("close"):
            if scopes:
                scopes.pop()
        elif token.group("space") is not None:
            scopes.append(token.group("space") or None)
        elif token.group("name"):
            if None not in scopes and not token.group("specialized"):
                line = text.count("\n", 0, token.start("name")) + 1
                yield "::".join([*scopes, token.group("name")]), line
            scopes.append(None)
        else:
            scopes.append(None)


def is_looked_at(path):
    return not path.startswith("tests/") and not re.search(r"_(test|testing|bench)\.", path)


def check(files):
    """Yields one line for each definition whose name another file has defined before.

    Args:
      files: pairs of path and text.
    """
    places = {}
    for path, text in files:
        for name, line in definitions(text):
            first, first_line = places.setdefault(name, (path, line))
            if first != path:
                yield f"{path}:{line}: {name} is defined in {first}:{first_line} too"


def self_test():
    one = "namespace weir {\nclass Run {\n  int x;\n};\n}\n"
    nested = "namespace a::b { class C {}; }"
    bad = [
        ("in two files", [one, one]),
        ("with a base", [one, "namespace weir { struct Run final : public Base<int> { }; }"]),
        ("in one line", [one, "namespace a {} namespace weir { namespace { } class Run {}; }"]),
        ("behind a macro", [one, "namespace weir {\n#define A(x) { \\\n  x {\nclass Run {};\n}"]),
        ("behind a text with braces", [one, 'namespace weir { auto x = R"({{)"; class Run {}; }']),
        ("nested namespaces", [nested, "namespace a { namespace b { class C {}; } }"]),
        ("a template", [one, "namespace weir { template <class T> class Run {}; }"]),
    ]
    good = [
        ("declared only", [one, "namespace weir { class Run; class Other {}; }"]),
        ("anonymous", [one, "namespace weir { namespace { class Run {}; } }"]),
        ("another namespace", [one, "namespace weir { namespace cpu { class Run {}; } }"]),
        ("inside of a class", [one, "namespace weir { class A { class Run {}; }; }"]),
        ("inside of a function", [one, "namespace weir { void F() { struct Run {}; } }"]),
        ("an enum", [one, "namespace weir { enum class Run { kOne }; }"]),
        ("a specialization", [one, "namespace weir { template <> class Run {}; }"]),
        ("in a comment", [one, "namespace weir {\n// class Run {\n}"]),
        ("a parameter", [one, "namespace weir { template <class Run> void F() {} }"]),
    ]
    outcomes = []
    for samples, wanted in ((bad, 1), (good, 0)):
        for what, texts in samples:
            found = list(check((f"{i}.cc", text) for i, text in enumerate(texts)))
            outcomes.append(f"{what}: {found or 'accepted'}" if len(found) != wanted else None)
    return sources.tell("names", outcomes)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    paths = sources.listed("*.cc", "*.h")
    looked_at = sorted(filter(is_looked_at, paths), key=lambda path: (path.endswith(".cc"), path))
    found = list(check((path, sources.read(path)) for path in looked_at))
    print("\n".join(found + [f"names: {len(looked_at)} files, {len(found)} defined twice"]))
    return 1 if found or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main())
