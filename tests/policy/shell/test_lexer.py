"""What the lexer reads is what bash and dash read; what it does not understand it refuses."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.policy.shell.lexer import LONGEST, MOST_COMMANDS, Unreadable, commands

HOME = "/home/ada"


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in commands(text, home=HOME)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("ls", [["ls"]]),
        ("  ls \t -la  ", [["ls", "-la"]]),
        ("a && b || c ; d | e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("a;b", [["a"], ["b"]]),
        ("a\n\nb\n", [["a"], ["b"]]),
        ("a &&\n b |\n c", [["a"], ["b"], ["c"]]),
        ("a |& b", [["a"], ["b"]]),
        ("ls src \\\n  tests", [["ls", "src", "tests"]]),
        ("grep 'a b'\"c d\"e", [["grep", "a bc de"]]),
        ("grep '' x", [["grep", "", "x"]]),
        ('grep "foo$" x', [["grep", "foo$", "x"]]),
        ('grep "a\\.b\\$\\"" x', [["grep", 'a\\.b$"', "x"]]),
        ("grep a\\;c 'it'\\''s'", [["grep", "a;c", "it's"]]),
        ("grep foo\\ bar\\ x a\\.b", [["grep", "foo bar x", "a.b"]]),
        ("find . \\( -name x \\)", [["find", ".", "(", "-name", "x", ")"]]),
        ("ls # a comment; rm x", [["ls"]]),
        ("# first\nls", [["ls"]]),
        ("ls a#b", [["ls", "a#b"]]),
        ("ls ~/x ~", [["ls", "/home/ada/x", "/home/ada"]]),
        ("git log HEAD~1 HEAD^ @{u}..HEAD 'x'", [["git", "log", "HEAD~1", "HEAD^", "@{u}..HEAD", "x"]]),
        ("git show HEAD^{tree}", [["git", "show", "HEAD^{tree}"]]),
        ("ls >/dev/null 2>&1", [["ls"]]),
        ("2>/dev/null ls x", [["ls", "x"]]),
        ("ls &>/dev/null; ls > /dev/null", [["ls"], ["ls"]]),
        ("! grep -q x y", [["grep", "-q", "x", "y"]]),
        ("[[ -f a && -f b ]] && ls", [["[[", "-f", "a", "&&", "-f", "b", "]]"], ["ls"]]),
        ("echo 'né → ☃'", [["echo", "né → ☃"]]),
        ("find . -exec ls {} +", [["find", ".", "-exec", "ls", "{}", "+"]]),
    ],
)
def test_what_is_plain_is_read(text: str, read: list[list[str]]) -> None:
    assert words(text) == read


def test_a_command_knows_what_it_is_fed_from_and_what_joins_it() -> None:
    first, second = commands("wc -l < README.md || ! ls", home=HOME)
    assert ([word.text for word in first.inputs], first.joined) == (["README.md"], "")
    assert (second.joined, second.negated) == ("||", True)


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("ls *.py", ["*.py"]),
        ("ls src/[ab]?.py", ["src/[ab]?.py"]),
        ("ls '*.py' \\*.py", ["", ""]),
        ("ls '*'*", ["?*"]),
    ],
)
def test_only_a_bare_wildcard_is_one(text: str, patterns: list[str]) -> None:
    (command,) = commands(text, home=HOME)
    assert [word.pattern for word in command.words[1:]] == patterns


@pytest.mark.parametrize(
    "text",
    [
        "[ -d>&1 src ]",
        "[[ -d src 2>/dev/null ]]",
        "",
        " ",
        "# nothing",
        ";",
        "ls ;; ls",
        "ls &&",
        "| ls",
        "ls & ls",
        "ls &",
        "echo $x",
        "echo ${x}",
        "echo $(ls)",
        'echo "$x"',
        'echo "`ls`"',
        "echo `ls`",
        "(ls)",
        "{ ls; }",
        "echo {a",
        "echo {a,b}",
        "echo {1..3}",
        "echo x{}",
        "echo {}x",
        "echo x@{a,b}",
        "echo $?",
        "echo a{b",
        "cat <<E\nE",
        "cat <<< x",
        "cat <(ls)",
        "ls > out",
        "ls >> out",
        "ls 2> out",
        "ls >| /dev/null",
        "ls >&out",
        "ls 3> /dev/null",
        "ls 12>/dev/null",
        "ls > /dev/nul?",
        "ls <> x",
        "ls <&3",
        "< README.md",
        "ls < *.md",
        "'unclosed",
        '"unclosed',
        "ls \\",
        "ls ~root",
        "ls ~+/x",
        "x=~/y ls",
        "ls a:~/x",
        "ls =vi",
        "caf\u00e9",
        "ls \\\u00e9",
        "ls\x0brm",
        "ls\r\nrm",
        "ls \u200bx",
        "ls '\u202e'",
        "echo '\ufe0f'",
        "ls \x00",
        "ls\x85rm",
        "$'a'",
        '$"a"',
        "!",
        "r\\\nm x",
        "ls \\\n",
        "ls \\ b",
        "ls 'a'\\ b",
        "ls a\\\tb",
        "grep 'a'\\sb x",
        "ls | ! cat",
        "head -3< x",
        "ls x2>/dev/null",
        "[ a ='' b ]",
        "echo a''",
        'echo ""\\$HOME',
        "rg [ ]a x",
        'echo "$ x"',
        "x" * (LONGEST + 1),
        ";".join(["ls"] * (MOST_COMMANDS + 1)),
    ],
)
def test_what_is_not_understood_to_the_last_character_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        commands(text, home=HOME)


def test_the_caps_are_the_last_that_pass() -> None:
    assert len(words(";".join(["ls"] * MOST_COMMANDS))) == MOST_COMMANDS
    assert words("l" * LONGEST) == [["l" * LONGEST]]


HIDDEN = st.sampled_from(
    [chr(one) for one in (*range(9), *range(11, 32), 0x7F, 0x85, 0xA0, 0x200B, 0x202E, 0xFEFF)]
)


@given(st.text(alphabet="ab -'\"", max_size=12), HIDDEN, st.text(alphabet="ab -'\"", max_size=12))
def test_a_character_that_nobody_sees_is_refused_wherever_it_stands(
    before: str, hidden: str, after: str
) -> None:
    with pytest.raises(Unreadable):
        commands(f"{before}{hidden}{after}", home=HOME)


LINES = st.text(alphabet="ab01 \t\n'\"\\$;|&<>#!*?[]~=@^{}-_./:,", min_size=1, max_size=24)


@pytest.mark.parametrize("shell", ["bash", "dash"])
@settings(max_examples=150, deadline=None)
@given(line=LINES)
def test_the_shells_read_the_same_words(shell: str, line: str) -> None:
    """Each program is one that prints its words; where the lexer reads a line, so does the shell."""
    text = f"p {line}"
    try:
        (command,) = commands(text, home=HOME)
    except (Unreadable, ValueError):
        return
    if command.inputs or any(word.pattern for word in command.words):
        return
    script = f'p() {{ for one; do printf "<%s>" "$one"; done; }} 2>&1\n{text}\n'
    told = subprocess.run(
        [shell, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"HOME": HOME, "PATH": "/bin:/usr/bin"},
    )
    assert told.stdout == "".join(f"<{word.text}>" for word in command.words[1:])
