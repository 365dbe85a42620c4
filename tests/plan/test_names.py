from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.errors import UsageWrong
from asbuilt.lifecycle.run_plan_syntax import Word
from asbuilt.plan.names import RUN_PLAN_WORDS, new_slug, slug_of_file, slug_of_name, slugify


@given(st.text(max_size=120), st.integers(1, 60))
def test_a_slug_can_be_typed_and_fits(text: str, limit: int) -> None:
    slug = slugify(text, limit=limit)
    assert re.fullmatch(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*)?", slug)
    assert len(slug) <= limit
    assert slugify(slug, limit=limit) == slug


@given(st.text(alphabet="aZ09 -_éß.", max_size=60))
def test_a_slug_is_cut_at_a_words_end(text: str) -> None:
    whole, cut = slugify(text, limit=1_000), slugify(text)
    assert whole.startswith(cut)
    assert whole[len(cut) :][:1] in {"", "-"} or "-" not in whole[:41]


@given(st.text(alphabet="aB9-_. /\\é\u2028", max_size=12))
def test_a_files_name_is_a_plans_name_or_is_refused(name: str) -> None:
    try:
        slug = slug_of_file(f"{name}.md")
    except UsageWrong:
        is_question = re.fullmatch(r"[aA][0-9]+", name)
        assert is_question or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name)
    else:
        assert slug == name.lower().replace("_", "-")


@given(st.text(min_size=1, max_size=60))
def test_a_slug_names_a_file_whose_slug_it_is(text: str) -> None:
    slug = new_slug(text)
    if slug:
        assert slug_of_file(f"{slug}.md") == slug_of_name(slug) == slug


@pytest.mark.parametrize("name", ["a1", "A17", *Word])
def test_a_name_that_means_something_else_in_a_command_is_given_to_no_new_plan(name: str) -> None:
    with pytest.raises(UsageWrong, match="cannot name a plan"):
        slug_of_name(name)
    assert new_slug(name) == f"{name.lower()}-plan"
    assert frozenset(Word) == RUN_PLAN_WORDS


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Größe & Straße prüfen", "grosse-strasse-prufen"),
        ("Łódź, Øst og Œuvre", "lodz-ost-og-oeuvre"),
        ("日本", ""),
    ],
)
def test_letters_with_marks_keep_their_base_letters(title: str, slug: str) -> None:
    assert slugify(title) == slug


@pytest.mark.parametrize(
    ("name", "slug"),
    [("FEATURE_PLAN.md", "feature-plan"), ("rate-limit.md", "rate-limit"), ("notes", "notes")],
)
def test_file_names_become_display_names(name: str, slug: str) -> None:
    assert slug_of_file(name) == slug
