"""What tree-sitter-bash and shfmt make of a command line: its simple commands, as words.

The one rule: an oracle knows nothing of the gate, and what it is not sure of is a disagreement.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tree_sitter
import tree_sitter_bash

if TYPE_CHECKING:
    from collections.abc import Iterator

SHFMT = Path(sys.executable).parent / "shfmt"
NODES = frozenset(
    (
        *("program", "list", "pipeline", "command", "command_name", "word", "string", "string_content"),
        *("raw_string", "concatenation", "number", "comment", "negated_command", "redirected_statement"),
        *("file_redirect", "file_descriptor", "test_command", "binary_expression", "unary_expression"),
        *("negation_expression", "test_operator", "regex", "extglob_pattern", "brace_expression"),
    )
)
_PARTS = frozenset(("Lit", "SglQuoted", "DblQuoted"))
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class Disagreement(AssertionError):
    """An oracle reads it in another way, or not at all."""


def by_tree_sitter(text: str) -> list[list[str]]:
    """Read by tree-sitter: every simple command, in order, as the source of its words."""
    source = text.encode()
    root = _PARSER.parse(source).root_node
    found: list[list[str]] = []
    for node in _walked(root):
        if node.is_error or node.is_missing or (node.is_named and node.type not in NODES):
            raise Disagreement(f"tree-sitter finds {node.type} at {node.start_byte}: {root}")
        if node.type == "command":
            found += _lines([child for child in node.children if child.type != "file_redirect"], source)
        elif node.type == "test_command":
            found.append([_source(node.children[0])])
        elif node.type == "file_redirect" and found:
            # It leaves out a dash before a redirection, and takes the words behind for more of its targets.
            before = node.prev_sibling
            found[-1] += source[before.end_byte : node.start_byte].decode().split() if before else []
            found[-1] += [_source(word) for word in node.children_by_field_name("destination")[1:]]
    return found


def by_shfmt(text: str, *, home: str) -> tuple[list[list[str]], list[str]]:
    """Read by shfmt: the words of every simple command, and the files that commands are fed from."""
    argv = [str(SHFMT), "--language-dialect", "bash", "--to-json"]
    done = subprocess.run(argv, input=text.encode(), capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise Disagreement(f"shfmt cannot read it: {done.stderr.decode()}")
    calls: list[tuple[int, list[str]]] = []
    inputs: list[tuple[int, str]] = []
    timed: dict[int, list[str]] = {}
    for node in _nodes(json.loads(done.stdout)):
        at = node.get("Pos", {}).get("Offset", 0)
        kind = node.get("Type")
        if kind == "CallExpr":
            if node.get("Assigns"):
                raise Disagreement("shfmt finds an assignment")
            calls.append((at, [_word(word, text, home) for word in node.get("Args", [])]))
        elif kind == "TestClause":
            calls.append((at, ["[["]))
        elif kind == "TimeClause":
            timed[at] = ["time", "-p"] if node.get("PosixFormat") else ["time"]
        elif kind not in (None, "File", "BinaryCmd", *_PARTS, "BinaryTest", "UnaryTest", "ParenTest", "Word"):
            raise Disagreement(f"shfmt finds {kind}")
        for redirect in node.get("Redirs", []):
            inputs += _fed(redirect, text, home)
    calls.sort()
    for clause, prefix in timed.items():
        next(words for at, words in calls if at > clause)[:0] = prefix
    return [words for _, words in calls], [name for _, name in sorted(inputs)]


def unquoted(source: str, *, home: str) -> str:
    """Give a word as a program gets it."""
    made, at = "", 0
    if source == "~" or source.startswith("~/"):
        made, at = home, 1
    while at < len(source):
        character = source[at]
        if character == "'":
            end = source.index("'", at + 1)
            made += source[at + 1 : end]
            at = end
        elif character == '"':
            at += 1
            while source[at] != '"':
                if source[at] == "\\" and source[at + 1] in '$`"\\\n':
                    at += 1
                    made += "" if source[at] == "\n" else source[at]
                else:
                    made += source[at]
                at += 1
        elif character == "\\":
            at += 1
            made += "" if source[at] == "\n" else source[at]
        else:
            made += character
        at += 1
    return made


def _fed(redirect: dict[str, Any], text: str, home: str) -> list[tuple[int, str]]:
    sign, word = redirect["Op"], _word(redirect["Word"], text, home)
    descriptor = redirect.get("N", {}).get("Value", "")
    if sign == "<" and descriptor in ("", "0"):
        return [(redirect["OpPos"]["Offset"], word)]
    if (sign in (">", ">>", "&>", "&>>") and word == "/dev/null") or (sign == ">&" and word in ("1", "2")):
        return []
    raise Disagreement(f"shfmt finds {descriptor}{sign}{word}")


def _word(word: dict[str, Any], text: str, home: str) -> str:
    for part in _nodes(word):
        if part.get("Type", "Lit") not in _PARTS or part.get("Dollar"):
            raise Disagreement(f"shfmt finds {part.get('Type')}")
    source = text.encode()[word["Pos"]["Offset"] : word["End"]["Offset"]].decode()
    return unquoted(source, home=home)


def _lines(words: list[tree_sitter.Node], source: bytes) -> list[list[str]]:
    """Part words that stand on two lines: behind a pipeline it takes the next line for more arguments."""
    found: list[list[str]] = []
    end = 0
    for word in words:
        between = source[end : word.start_byte].replace(b"\\\n", b"")
        if not found or b"\n" in between:
            found.append([])
        found[-1].append(_source(word))
        end = word.end_byte
    return found


def _walked(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for child in node.children:
        yield from _walked(child)


def _source(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode()


def _nodes(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _nodes(one)
    elif isinstance(value, list):
        for one in value:
            yield from _nodes(one)
