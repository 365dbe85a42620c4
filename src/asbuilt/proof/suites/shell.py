"""What a shell script or a recipe of make checks: every command whose exit code tells.

The one rule: a command counts only when its failure ends the script, or is answered by a failure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.commands import masks
from asbuilt.proof.suites.model import Assertion, Idle, Kind, Rank, Reading, Severity, Test, Trace, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRIVIAL: Final = re.compile(
    r"^(echo|printf|cd|mkdir|rm|cp|mv|touch|export|set|local|readonly|declare|source|\.|unset|shift|trap|pushd|popd|sleep|"
    r"cat|chmod|ln|then|else|fi|do|done|esac|\{|\}|\(|\)|true|:|return|exit|umask|shopt|alias|wait|kill|fi;|done;|load|skip)(?=\s|$|;)"
)
_ASSIGNED: Final = re.compile(r"^(?:local\s+|export\s+)?(\w+)=(.*)$", re.DOTALL)
_TESTING: Final = re.compile(
    r"^(?:if\s+|elif\s+|while\s+)?(?:!\s*)?(test|\[\[?|diff|cmp|grep|assert\w*|expect\w*|check\w*|verify\w*|fail\w*)(?=\s)"
)
_FUNCTION: Final = re.compile(
    r"^\s*(?:function\s+)?([\w:\[-]+)\s*\(\)\s*\{?|^\s*@test\s+(['\"])(.*?)\2\s*\{|^\s*function\s+([\w:-]+)\s*\{"
)
_ANYWHERE: Final = frozenset(
    [
        *(
            "set",
            "-e",
            "-u",
            "-eu",
            "-eux",
            "-euo",
            "-o",
            "pipefail",
            "if",
            "then",
            "elif",
            "else",
            "fi",
            "for",
        ),
        *("in", "do", "done", "while", "case", "esac", "exit", "return", "true", "sh", "bash", ".", "source"),
        *("echo", "printf", "test", "-z", "-n", "/dev/null", "0", "1", "2"),
    ]
)
"""What every script has: it tells no test from another."""
_REPLACED: Final = frozenset(["test", "[", "diff", "cmp", "grep", "exit", "false", "fail", "assert", "set"])
_HEREDOC: Final = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_FAILING: Final = re.compile(
    r"\s*\|\|\s*(?:\{?\s*(?:exit\s+[1-9$]\S*|return\s+[1-9$]\S*|false|fail\b|die\b|abort\b)|[{(]).*$",
    re.DOTALL,
)
_PROGRAM: Final = re.compile(r"[\w./-]+\.(?:sh|py|js|pl|rb)\b|\./[\w./-]+")
_UNSEEN: Final = re.compile(r">\s*/dev/null")
_LOOP: Final = re.compile(r"^for\s+(\w+)\s+in\s+([^;$`*?\"']+?)\s*;?\s*do$")
_WORDS: Final = 40
"""Words and commands of a loop that are written down."""
_FIRST: Final = re.compile(r"^(\S+)")
_TEST_ENVIRONMENT: Final = re.compile(
    r"\$\{?(MAKELEVEL|MAKEFLAGS|BATS_\w+|PYTEST_\w+|NODE_TEST_CONTEXT|TEST_TARGET)\b"
)
_LITERALS: Final = re.compile(r"\"[^\"$`]*\"|'[^']*'|(?<![\w$])\d+(?:\.\d+)?(?!\w)")
"""Text with a command or a variable in it is no literal: it is what the product answers."""


class _Line(NamedTuple):
    number: int
    text: str


def read_script(path: str, data: bytes, aids: frozenset[str] = frozenset()) -> Reading:
    """Read the tests of a script: its functions for tests, and what stands outside of them.

    `aids` are functions that fail for whoever calls them, wherever they stand.
    """
    lines = list(_logical(data.decode("utf-8", "replace")))
    blocks, starts = _blocks(lines)
    tests = []
    for title, body in blocks.items():
        commands = [(line.number, line.text) for line in body]
        made = recipe(path, title or path.rpartition("/")[2], starts[title], commands, aids)
        if made.assertions or title:
            is_aid = (
                bool(title)
                and not re.match(r"test|it_|should", title)
                and "@test" not in data.decode("utf-8", "replace")
            )
            tests.append(made._replace(is_aid=is_aid))
    return Reading(tuple(tests), tuple(_traces(lines, blocks)))


def read_program(path: str, data: bytes) -> Reading:  # noqa: ARG001 - read as tests are
    """Read what a script of the product knows of tests."""
    found = (
        (line.number, name[0])
        for line in _logical(data.decode("utf-8", "replace"))
        for name in _TEST_ENVIRONMENT.finditer(line.text)
    )
    return Reading(
        (),
        tuple(
            Trace(Kind.KNOWS_THE_TESTS, Severity.SIGN_OFF, line, f"the product looks for {name}", name)
            for line, name in found
        ),
    )


def asserting(data: bytes) -> frozenset[str]:
    """Name the functions of a script that fail: whoever calls one demands something."""
    blocks, _ = _blocks(list(_logical(data.decode("utf-8", "replace"))))
    fails = re.compile(r"\b(exit|return)\s+[1-9$]|\bfalse\b")
    return frozenset(
        name for name, body in blocks.items() if name and any(fails.search(line.text) for line in body)
    )


def _blocks(lines: list[_Line]) -> tuple[dict[str, list[_Line]], dict[str, int]]:
    """Cut a script into its functions and what stands outside of them, with the line where each begins."""
    blocks: dict[str, list[_Line]] = {"": []}
    name, depth = "", 0
    starts = {"": 1}
    for line in lines:
        opened = _FUNCTION.match(line.text)
        if opened and not name:
            name = opened[1] or opened[3] or opened[4]
            blocks.setdefault(name, [])
            starts[name] = line.number
            depth = 0
        text = line.text[opened.end() :] if opened and not depth else line.text
        depth += line.text.count("{") - line.text.count("}") if name else 0
        if text.strip(" {}"):
            blocks[name].append(line._replace(text=text.strip()))
        if name and depth <= 0 and "}" in line.text:
            name = ""
    return blocks, starts


def recipe(
    path: str,
    name: str,
    line: int,
    commands: list[tuple[int, str]],
    aids: frozenset[str] = frozenset(),
) -> Test:
    """Read commands that are run one after the other as one test."""
    found: list[Assertion] = []
    idle: list[Idle] = []
    values: dict[str, str] = {}
    ended, dead = False, ""
    for number, text in _unrolled(commands):
        never = re.match(r"(if|while)\s+(?:false|! true|! :)\s*(?:;|$)", text)
        dead = dead or ({"if": "fi", "while": "done"}[never[1]] if never else "")
        if re.match(r"skip\b", text):
            idle.append(Idle(Kind.TEST_SKIPPED, "", number, shortened(text)))
        assigned = _ASSIGNED.match(text)
        if assigned and " " not in text.partition("=")[0].strip().removeprefix("local ").removeprefix(
            "export "
        ):
            values[assigned[1]] = assigned[2]
        made = _demand(number, text, values, aids)
        if made is not None:
            void = (Kind.ALWAYS_TRUE, "it is never reached") if ended or dead else made.void
            found.append(made._replace(void=void))
        dead = "" if dead and re.match(rf"{dead}\b", text) else dead
        ended = ended or re.match(r"(exit|return)(\s+0)?\s*$", text) is not None
    words = frozenset(word for _, text in commands for word in re.findall(r"[\w./-]+", text)) - _ANYWHERE
    return Test(path, name, line, tuple(found), tuple(idle), words)


def _unrolled(commands: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Give commands with every short loop over words that are spelled out written down word by word."""
    at = 0
    while at < len(commands):
        number, text = commands[at]
        at += 1
        loop = _LOOP.match(text)
        near = [inner for _, inner in commands[at : at + _WORDS]] if loop else []
        body = commands[at : at + near.index("done")] if "done" in near else []
        if loop is None or not body or any(inner.startswith(("for ", "while ")) for _, inner in body):
            yield number, text
            continue
        at += len(body) + 1
        name = rf'"?\$(?:{loop[1]}\b|\{{{loop[1]}\}})"?'
        for word in loop[2].split()[:_WORDS]:
            yield from ((line, re.sub(name, word.replace("\\", r"\\"), inner)) for line, inner in body)


def _demand(number: int, text: str, values: dict[str, str], aids: frozenset[str]) -> Assertion | None:
    bare = re.sub(r"^[@+]+", "", text.lstrip())
    forgiven = re.match(r"^[@+]*-", text.lstrip()) is not None
    bare = bare.lstrip("-@+ ") if forgiven else bare
    if not bare or _TRIVIAL.match(bare) or bare.startswith("#"):
        return None
    assigned = _ASSIGNED.match(bare)
    if assigned and "$(" not in assigned[2] and "`" not in assigned[2]:
        return None
    core = _FAILING.sub("", bare)
    void = None
    hidden = [
        why
        for why in masks(core)
        if "something else" not in why and "pipe" not in why and "turned" not in why
    ]
    if forgiven:
        void = (Kind.FAILURE_SWALLOWED, "make ignores its failure")
    elif hidden:
        void = (Kind.FAILURE_SWALLOWED, hidden[0])
        core = re.sub(r"\s*(?:\|\||;|&&)\s*(?:true|:|echo.*|exit 0|printf.*)\s*$", "", core)
    whole = re.sub(r"\s+", " ", core).strip().removesuffix("; then").removesuffix(";")
    whole = re.sub(r"\$\{?(\w+)\}?", lambda name: values.get(name[1], name[0]), whole)
    testing = _TESTING.match(whole) or (_FIRST.match(whole) if whole.partition(" ")[0] in aids else None)
    rank = _rank(testing[1], whole) if testing else Rank.RUNS
    literals = frozenset(_LITERALS.findall(whole)) if testing else frozenset[str]()
    if testing and re.match(r"^(?:test|\[\[?)\s+(['\"]?)([^\s$`]*)\1\s+=+\s+(['\"]?)\2\3(?:\s|$)", whole):
        void = (Kind.ALWAYS_TRUE, "nothing of the product is in it")
    subject = re.sub(_LITERALS, "_", whole) if testing else whole
    return Assertion(
        rank,
        testing[1] if testing else "runs",
        subject,
        " ".join(sorted(literals)),
        number,
        shortened(text),
        literals=literals,
        # What is run only to run looks at nothing that it says.
        calls=frozenset(_PROGRAM.findall(whole)) if testing or _UNSEEN.search(whole) else frozenset(),
        void=void,
    )


def _rank(word: str, text: str) -> Rank:
    if word == "grep":
        return Rank.PARTLY
    if word in ("test", "[", "[["):
        if re.search(r"\s-[a-z]\s", text) and not re.search(r"\s-(eq|ne|lt|gt|le|ge)\s|\s=", text):
            return Rank.TRUE
        return Rank.PARTLY if re.search(r"!=|\s-(ne|lt|gt|le|ge)\s|=~|\*", text) else Rank.EQUAL
    return Rank.EQUAL


def _logical(text: str) -> Iterator[_Line]:
    """Give commands with their lines: joined where they go on, without comments and here-documents."""
    waiting, start, until = "", 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        if until:
            until = "" if raw.strip() == until else until
            continue
        line = raw.rstrip()
        if not waiting:
            start = number
        waiting += line.removesuffix("\\") if line.endswith("\\") else line
        if line.endswith("\\"):
            waiting += " "
            continue
        document = _HEREDOC.search(waiting)
        until = document[2] if document else ""
        stripped = waiting.strip()
        waiting = ""
        if stripped and not (stripped.startswith("#") and not stripped.startswith("#!")):
            yield _Line(start, re.sub(r"\s+#\s.*$", "", stripped))


def _traces(lines: list[_Line], blocks: dict[str, list[_Line]]) -> Iterator[Trace]:
    strict = any(re.search(r"\bset\s+-\w*e|\berrexit\b|^#!.*\s-\w*e", line.text) for line in lines)
    if not strict:
        yield Trace(
            Kind.FAILURE_SWALLOWED,
            Severity.FAILS,
            1,
            "the script goes on after a failure: no set -e",
            "no set -e",
        )
    if not any("pipefail" in line.text for line in lines) and any(
        re.search(r"(?<!\|)\|(?!\|)", line.text) for line in lines
    ):
        yield Trace(Kind.FAILURE_SWALLOWED, Severity.SIGN_OFF, 1, "no pipefail", "no pipefail")
    for at, line in enumerate(lines):
        text = line.text
        if re.search(r"\bset\s+\+\w*e|\bset\s+\+o\s+errexit", text):
            again = any(re.search(r"\bset\s+-\w*e", other.text) for other in lines[at + 1 :])
            severity = Severity.SIGN_OFF if again else Severity.FAILS
            yield Trace(Kind.FAILURE_SWALLOWED, severity, line.number, text, f"set +e {at if again else ''}")
        if re.match(r"^(exit(\s+0)?|return 0)\s*;?$", text) and line in blocks[""]:
            yield Trace(Kind.EXIT_FORCED, Severity.FAILS, line.number, text, "exit 0")
        if re.match(r"^trap\s.*\bexit\s+0", text):
            yield Trace(Kind.EXIT_FORCED, Severity.FAILS, line.number, text, text)
        if re.match(r"^(export\s+)?PATH=", text):
            yield Trace(Kind.RUNNER_CHANGED, Severity.SIGN_OFF, line.number, text, text)
        aliased = re.match(r"^alias\s+([\w\[]+)=", text)
        if aliased and aliased[1] in _REPLACED:
            yield Trace(Kind.RUNNER_REPLACED, Severity.FAILS, line.number, text, text)
    for name in _REPLACED & set(blocks):
        if not any(
            re.search(r"\b(exit|return)\s+[1-9$]|\bfalse\b|command\s", line.text) for line in blocks[name]
        ):
            yield Trace(
                Kind.RUNNER_REPLACED, Severity.FAILS, 1, f"{name} is replaced, and cannot fail", f"def {name}"
            )
