"""The last lines of an output are fit to be shown, whatever a command printed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.evidence import LINES, WIDTH, last_lines


def test_colours_links_titles_and_cursor_moves_are_taken_out() -> None:
    link = b"\x1b]8;;http://x/\x1b\\test_a\x1b]8;;\x1b\\"
    output = b"\x1b]0;title\x07\x1b[1;31mFAILED\x1b[0m " + link + b" \x1b(B\x1b[2Kend\n"

    assert last_lines(output) == ("FAILED test_a end",)


def test_only_the_last_state_of_a_progress_bar_is_kept() -> None:
    output = b"fetching\r\n 10%\r 50%\r100%\ndone\r\n  0 of 2\r  2 of 2\r\n"

    assert last_lines(output) == ("fetching", "100%", "done", "  2 of 2")


def test_blank_lines_take_no_room_and_indents_stay() -> None:
    assert last_lines(b"\n\n    def f():\n\n\n\t  return 1\n   \n") == ("    def f():", "      return 1")


def test_the_last_fifteen_lines_are_kept_or_as_many_as_are_asked_for() -> None:
    output = "\n".join(f"line {number}" for number in range(40)).encode()

    assert last_lines(output) == tuple(f"line {number}" for number in range(25, 40))
    assert last_lines(output, 2) == ("line 38", "line 39")


def test_a_secret_is_masked_even_where_it_is_coloured_or_takes_several_lines() -> None:
    output = (
        b"using \x1b[32mtoken=\x1b[0mabcdef0123456789\n"
        b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nMIIF\n-----END RSA PRIVATE KEY-----\n"
        b"GET https://me:pw@registry.example/simple\n"
    )

    assert last_lines(output) == (
        "using token=[secret]",
        "[secret]",
        "GET https://[secret]@registry.example/simple",
    )


def test_a_long_line_ends_in_an_ellipsis() -> None:
    assert last_lines(b"x" * 5_000) == ("x" * (WIDTH - 1) + "…",)


@given(st.binary(max_size=400))
def test_any_output_gives_few_short_lines_without_an_escape(output: bytes) -> None:
    lines = last_lines(output)

    assert len(lines) <= LINES
    assert all(line and len(line) <= WIDTH and "\x1b" not in line and "\r" not in line for line in lines)
