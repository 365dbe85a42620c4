"""Which commands need a shell; the judge is the shell itself."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.policy.shell.judge import argv_of


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("pytest -q", ("pytest", "-q")),
        ("  uv run  pytest\t-x ", ("uv", "run", "pytest", "-x")),
        ("grep 'a b' \"c d\"", ("grep", "a b", "c d")),
        ("printf a'b'\"c\" ''", ("printf", "abc", "")),
        ("npm test -- --grep=x", ("npm", "test", "--", "--grep=x")),
        ("git log '--format=%h $x'", ("git", "log", "--format=%h $x")),
    ],
)
def test_plain_words_are_an_argv(text: str, argv: tuple[str, ...]) -> None:
    assert argv_of(text) == argv


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a && b",
        "a | b",
        "a; b",
        "a\nb",
        "a > b",
        "a &",
        "CI=1 make",
        "echo $HOME",
        'echo "$HOME"',
        "echo `id`",
        "echo \\a",
        'echo "a\\"b"',
        "ls *.py",
        "ls ~",
        "ls a?",
        "echo {a,b}",
        "(a)",
        "! a",
        "a # b",
        "cd x",
        "exit 3",
        ". ./x",
        "'unclosed",
        "export A",
        "é",
    ],
)
def test_anything_else_is_the_shells(text: str) -> None:
    assert argv_of(text) == ("/bin/sh", "-c", text)


def test_a_text_that_begins_with_a_dash_is_no_option_of_the_shell() -> None:
    argv = argv_of("-x; echo ran")
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout == "ran\n"


@settings(max_examples=150)
@given(st.text(alphabet="ab-=./'\" \t%:$\\", max_size=14))
def test_an_argv_is_what_the_shell_would_have_made_of_it(text: str) -> None:
    argv = argv_of(f"printf {text}")
    if argv[0] != "printf":
        return
    shown = subprocess.run(
        ["/bin/sh", "-c", f"for word in {text}\ndo printf '%s\\0' \"$word\"\ndone"],
        capture_output=True,
        check=True,
    )
    assert [word.decode() for word in shown.stdout.split(b"\0")[:-1]] == list(argv[1:])
