"""Mask what looks like a secret in a text that leaves the machine. Pure; its one rule: in doubt, mask."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORTEST: Final = 6
"""A shorter value is part of too many words: masking it would make outputs unreadable, counts too."""

# No repeat can begin anywhere and go on for ever: a log may hold one line of many thousand letters.
_KNOWN: Final = re.compile(
    r"""
      -----BEGIN[ A-Z0-9]*PRIVATE\ KEY-----.*?(?:-----END[ A-Z0-9]*PRIVATE\ KEY-----|\Z)
    | eyJ[\w-]+\.[\w-]+\.[\w-]*                              # a JSON web token
    | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}
    | gh[pousr]_\w{16,} | github_pat_\w{16,} | glpat-[\w-]{16,}
    | \b(?:sk|pk|rk)[-_][\w-]{12,}                           # Anthropic, OpenAI, Stripe
    | \bxox[a-z]-[\w-]{8,} | \bAIza[\w-]{20,} | \bya29\.[\w.-]+
    | \bnpm_\w{16,} | \bpypi-[\w-]{16,} | \bhf_\w{16,} | \bdop_v1_\w{16,}
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_IN_URL: Final = re.compile(r"""(?<=://)[^\s"'<>]{1,300}@""")
_AUTHORIZATION: Final = re.compile(
    r"(\bauthorization\W{1,4}\w+\s+|\bbearer\s+)\S{6,}", re.IGNORECASE | re.ASCII
)
_ASSIGNED: Final = re.compile(
    r"""
    (?P<name> (?: passw(?:or)?d | passphrase | secret | token | api[_-]?key | access[_-]?key
      | private[_-]?key | credentials? | cookie ) [\w.-]{0,40} ["']? \s* (?: => | [:=]+ ) \s* )
    (?P<value> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | [^\s"']+ )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def masked(text: str) -> str:
    """Mask keys, tokens, passwords in addresses, and what stands behind a name such as `password =`."""
    text = _KNOWN.sub("[secret]", text)
    text = _IN_URL.sub("[secret]@", text)
    text = _AUTHORIZATION.sub(r"\1[secret]", text)
    return _ASSIGNED.sub(r"\g<name>[secret]", text)


def forms_of(values: Iterable[str]) -> tuple[bytes, ...]:
    """Give every form in which programs print values: as they are, by lines, in addresses, in XML."""
    whole = {form for value in values for form in (value, *value.splitlines())}
    every = {form for value in whole for form in (value, quote(value), quote(value, safe=""), escape(value))}
    long = [form.encode() for form in every if len(form.strip()) >= _SHORTEST]
    return tuple(sorted(long, key=lambda form: (-len(form), form)))


def without(output: bytes, forms: Iterable[bytes]) -> bytes:
    """Mask known values in what a command wrote."""
    for form in forms:
        output = output.replace(form, b"[secret]")
    return output
