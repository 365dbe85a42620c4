from __future__ import annotations

import pytest

from asbuilt.lifecycle.authoring.modes import Size, mode_for, name_for, size_of, trivial_file

SMALL = "add rate limiting to the public API"
MIDDLING = "rename the module and every import of it in src/app.py and src/limits.py"
LARGE = "do all of this:\n- limit requests\n- count them\n- show them to their owners\n"


@pytest.mark.parametrize(
    ("prompt", "size"), [(SMALL, Size(7, 0)), (MIDDLING, Size(12, 2)), (LARGE, Size(16, 3)), ("", Size(0, 0))]
)
def test_a_request_is_measured_by_its_words_and_by_what_it_names(prompt: str, size: Size) -> None:
    assert size_of(prompt) == size


@pytest.mark.parametrize(
    ("prompt", "ways"),
    [
        (SMALL, ("light", "light")),
        (MIDDLING, ("light", "standard")),
        (LARGE, ("standard", "standard")),
        ("word " * 81, ("standard", "standard")),
    ],
)
def test_small_work_takes_the_short_way_and_protective_the_longer_one_where_unsure(
    prompt: str, ways: tuple[str, str]
) -> None:
    assert tuple(mode_for(prompt, profile).name for profile in ("expedient", "protective")) == ways


@pytest.mark.parametrize(
    ("prompt", "files"),
    [
        ("fix the typo in README.md", ("README.md", "README.md")),
        ("add a delete button to web/list.tsx", ("web/list.tsx", None)),
        (SMALL, (None, None)),
        (MIDDLING, (None, None)),
        (f"fix the typo in README.md {'and so on ' * 6}", (None, None)),
        ("in a.py:\n- one\n- two", (None, None)),
    ],
)
def test_a_change_of_one_named_file_needs_no_plan_by_profile(
    prompt: str, files: tuple[str | None, str | None]
) -> None:
    assert tuple(trivial_file(prompt, profile) for profile in ("expedient", "protective")) == files


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        (SMALL, "rate-limiting-public-api"),
        ("please make it so", "please-make-it-so"),
        ("Größe der Menüs ändern!", "groesse-der-menues-aendern"),
        ("日本語", "plan"),
    ],
)
def test_a_plan_is_named_by_the_words_that_tell_it_from_others(prompt: str, name: str) -> None:
    assert name_for(prompt) == name
