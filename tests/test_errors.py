"""Every failure a person can meet carries its words and a documented exit code."""

from __future__ import annotations

import inspect

from asbuilt import errors

DOCUMENTED = {
    errors.FAILED,
    errors.USAGE,
    errors.NOT_FOUND,
    errors.GATE_STOPPED,
    errors.PARKED,
}


def _kinds() -> list[type[errors.AsbuiltError]]:
    return [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.AsbuiltError)
    ]


def test_an_error_carries_what_why_and_next() -> None:
    for kind in _kinds():
        error = kind("what", why="why", next_step="next")
        assert (str(error), error.what, error.why, error.next_step) == ("what", "what", "why", "next")


def test_every_error_has_a_documented_exit_code_and_says_what_it_is() -> None:
    assert {kind.__name__ for kind in _kinds() if kind.exit_code not in DOCUMENTED} == set()
    assert {kind.__name__ for kind in _kinds() if not (kind.__doc__ or "").strip()} == set()


def test_our_own_bug_has_no_class() -> None:
    assert errors.OUR_BUG not in {kind.exit_code for kind in _kinds()}
