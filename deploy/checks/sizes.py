#!/usr/bin/env python3
"""Checks the size bounds of CONTRIBUTING.md: files, functions, lines, folders.

usage: deploy/checks/sizes.py [--self-test]

sizes_allow.txt beside this file lists the exceptions: path, bound name, limit, reason.
"""

import collections
import os
import re
import sys

import sources

HEADER_LINES = 250
SOURCE_LINES = 600
FUNCTION_LINES = 60
LINE_COLUMNS = 100
FOLDER_SOURCES = 20

# One op or kind of vertex is one file there, so the number of files is the number of those.
UNBOUNDED_FOLDERS = re.compile(r"common/ops/\w+|common/flow/kinds|worker/flow/vertices")
NOT_COUNTED = re.compile(r"_(test|bench|fuzz)\.cc$")

LITERAL_OR_COMMENT = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"'
    r"""|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""",
    re.S,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
SCOPE = re.compile(r"(?:inline\s+)?(?:namespace|extern|class|struct|union|enum|export)\b")
LAMBDA = re.compile(
    r"\[[^\[\]]*\]\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*(?:mutable|noexcept|->[^{}()]*|\s)*$"
)
TEMPLATE = re.compile(r"template\s*<[^{};]*?>\s*(?=\w)")


def blank(match):
    """The same number of lines and columns, without the text."""
    return re.sub(r"[^\n]", " ", match.group(0))


def kind_of(before):
    """What the brace after `before` opens: a scope, a function body, or a list of initialisers."""
    before = TEMPLATE.sub("", before.strip())
    if LAMBDA.search(before):
        return "function"
    if SCOPE.match(before) and "(" not in re.sub(r"\w+\([^()]*\)", "", before.split(":")[0]):
        return "scope"
    initialised = re.search(r"(?<![=!<>])=(?!=)", re.sub(r"operator\s*\S+", "", before))
    member = re.search(r"\)\s*:(?!:).*\w$", before, re.S)
    if "(" not in before or initialised or member:
        return "list"
    return "function"


def functions(text):
    """Yields (first line, last line) of every function body that is not inside another one."""
    text = DIRECTIVE.sub(blank, LITERAL_OR_COMMENT.sub(blank, text))
    stack = []  # (kind, first line)
    start, line = 0, 1
    for position, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char == "{":
            inner = any(kind == "function" for kind, _ in stack)
            kind = "block" if inner else kind_of(text[start:position])
            stack.append((kind, line))
            if kind != "list":
                start = position + 1
        elif char == "}" and stack:
            kind, first = stack.pop()
            if kind == "function":
                yield first, line
            if kind != "list":
                start = position + 1
        elif char == ";" and not any(kind == "list" for kind, _ in stack):
            start = position + 1


def measure(path, text):
    """Yields (bound name, figure, limit, line) of everything over its bound in one file."""
    lines = text.splitlines()
    limit = HEADER_LINES if path.endswith(".h") else SOURCE_LINES
    if len(lines) > limit:
        yield "lines", len(lines), limit, 1
    for number, line in enumerate(lines, start=1):
        if len(line) > LINE_COLUMNS and not re.match(r"\s*(#include|// https?://)", line):
            yield "columns", len(line), LINE_COLUMNS, number
    if not path.endswith(".py"):
        for first, last in functions(text):
            if last - first + 1 > FUNCTION_LINES:
                yield "function", last - first + 1, FUNCTION_LINES, first


def check(files, read, allowed):
    """Yields a line for each figure over its bound; `allowed` maps (path, bound) to a limit."""
    folders = collections.Counter()
    for path in files:
        folder = os.path.dirname(path)
        if path.endswith((".cc", ".cu")) and not NOT_COUNTED.search(path):
            folders[folder] += 1
        for name, figure, limit, line in measure(path, read(path)):
            limit = allowed.get((path, name), limit)
            if figure > limit:
                yield f"{path}:{line}: {name}: {figure}, at most {limit}"
    for folder, count in sorted(folders.items()):
        limit = allowed.get((folder, "sources"), FOLDER_SOURCES)
        if count > limit and not UNBOUNDED_FOLDERS.match(folder):
            yield f"{folder}: sources: {count}, at most {limit}"


def read_allowed(text):
    allowed = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            path, name, limit, reason = line.split(maxsplit=3)
            allowed[path, name] = int(limit)
    return allowed


def body(lines):
    return "  Step();\n" * lines


SELF_TESTS = [
    # (name, {path: text}, allowed, substrings of the expected lines)
    ("long header", {"a.h": "int x;\n" * 251}, {}, ["a.h:1: lines: 251"]),
    ("header at its bound", {"a.h": "int x;\n" * 250}, {}, []),
    ("long source", {"a.cc": "int x;\n" * 601}, {}, ["a.cc:1: lines: 601"]),
    ("allowed source", {"a.cc": "int x;\n" * 601}, {("a.cc", "lines"): 700}, []),
    ("long line", {"a.cc": "// " + "x" * 98 + "\n"}, {}, ["a.cc:1: columns: 101"]),
    ("function", {"a.cc": "\nvoid F() {\n" + body(60) + "}\n"}, {}, ["a.cc:2: function: 62"]),
    ("function at its bound", {"a.cc": "void F() {\n" + body(58) + "}\n"}, {}, []),
    (
        "method with initialisers",
        {"a.cc": "namespace n {\nC::C(int a)\n    : a_{a}, b_(1) {\n" + body(60) + "}\n}\n"},
        {},
        ["a.cc:3: function: 62"],
    ),
    (
        "method in a class",
        {"a.h": "class A : public B<int> {\n int F() const override {\n" + body(60) + "}\n};\n"},
        {},
        ["a.h:2: function: 62"],
    ),
    (
        "template and trailing type",
        {"a.h": "template <typename T, int N = 3>\nauto F(T t) -> T {\n" + body(60) + "}\n"},
        {},
        ["a.h:2: function: 62"],
    ),
    (
        "test body",
        {"a_test.cc": "TEST(A, B) {\n" + body(60) + "}\n"},
        {},
        ["a_test.cc:1: function: 62"],
    ),
    ("long class", {"a.cc": "struct A {\n" + "  int x;\n" * 80 + "};\n"}, {}, []),
    ("long table", {"a.cc": "const int kTable[] = {\n" + "  F(1),\n" * 80 + "};\n"}, {}, []),
    (
        "function in a table",
        {"a.cc": "const Op kOp = {.rule = [](int x) -> int {\n" + body(60) + "}};\n"},
        {},
        ["a.cc:1: function: 62"],
    ),
    ("brace in text", {"a.cc": 'void F() { G("{"); }\n// {\nint x;\n' + "int y;\n" * 80}, {}, []),
    ("full folder", {f"server/f{i}.cc": "" for i in range(21)}, {}, ["server: sources: 21"]),
    ("tests do not fill a folder", {f"server/f{i}_test.cc": "" for i in range(40)}, {}, []),
    ("op families grow", {f"common/ops/reduce/f{i}.cc": "" for i in range(40)}, {}, []),
]


def self_test():
    outcomes = []
    for name, texts, allowed, wanted in SELF_TESTS:
        found = list(check(sorted(texts), texts.get, allowed))
        agrees = len(found) == len(wanted) and all(w in line for w, line in zip(wanted, found))
        outcomes.append(None if agrees else f"{name}: wanted {wanted}, found {found}")
    return sources.tell("sizes", outcomes)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    files = sources.listed("*.cc", "*.h", "*.cu", "*.inc", "*.py")
    allowed = read_allowed(sources.read("deploy/checks/sizes_allow.txt"))
    found = list(check(files, sources.read, allowed))
    print("\n".join(found + [f"sizes: {len(files)} files, {len(found)} over a bound"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
