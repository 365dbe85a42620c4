"""Slugs of plans and phases. Pure: whether a name is taken is not checked."""

from __future__ import annotations

import re
import unicodedata
from posixpath import join
from shlex import quote
from typing import Final

from asbuilt.errors import UsageWrong

_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_MAX_SLUG: Final = 40
_LONGEST: Final = 100
_QUESTION: Final = re.compile(r"a[0-9]+")
RUN_PLAN_WORDS: Final = frozenset(
    ("stop", "next", "status", "finish", "now", "auto", "every", "pr", "direct")
)
"""Words that `/run-plan` reads as commands; a plan of such a name is run by its path."""
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
)
"""Latin letters that Unicode does not decompose."""
_UMLAUTS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ẞ": "SS", "ß": "ss"}
)


def slug_of_file(name: str, folder: str = "") -> str:
    """Return a plan's name from its file name: `FEATURE_PLAN.md` is `feature-plan`.

    `folder`: the file's folder as it is typed, for the command that renames it.
    """
    slug = name.removesuffix(".md").lower().replace("_", "-")
    if not _SLUG.fullmatch(slug) or _QUESTION.fullmatch(slug):
        better = new_slug(name.removesuffix(".md")) or "my-plan"
        raise UsageWrong(
            f'"{name}" cannot name a plan',
            why=_clash(slug)
            or "A plan's name is typed in commands: letters a-z, digits and hyphens, no hyphen in front.",
            next_step=f"`mv {quote(join(folder, name))} {quote(join(folder, better))}.md`",
        )
    return slug


def slug_of_name(name: str) -> str:
    """Return the slug of a new plan's name, with or without `.md`; at most 100 characters."""
    slug = name.removesuffix(".md").lower().replace("_", "-")
    if not _SLUG.fullmatch(slug) or len(slug) > _LONGEST or _clash(slug):
        raise UsageWrong(
            f'"{name}" cannot name a plan',
            why=_clash(slug)
            or "A plan's name is typed in commands: letters a-z, digits and hyphens, no hyphen in front, and"
            f" not more than {_LONGEST}.",
            next_step="Give another name, of these characters.",
            typed=name,
            meant=new_slug(slug) or "my-plan",
        )
    return slug


def new_slug(text: str, *, limit: int = _MAX_SLUG) -> str:
    """Make a new plan's slug from its title, with German letters as German writes them without umlauts.

    Names of phases keep the older spelling of `slugify`, because journals contain them.
    """
    slug = slugify(unicodedata.normalize("NFC", text).translate(_UMLAUTS), limit=limit)
    return f"{slug}-plan" if _clash(slug) else slug


def _clash(slug: str) -> str:
    """Return what else a name means where a plan's name is typed; empty if nothing."""
    if _QUESTION.fullmatch(slug):
        return f"Questions have such names: `asbuilt approve yes {slug}` answers one."
    return f"/run-plan reads {slug} as a command." if slug in RUN_PLAN_WORDS else ""


def slugify(text: str, *, limit: int = _MAX_SLUG) -> str:
    """Make a slug from a title, cut at the end of a word; empty if no character of it can be used."""
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS)).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    if len(slug) <= limit:
        return slug
    cut = slug[: limit + 1].rfind("-")
    return slug[:cut] if cut > 0 else slug[:limit]
