"""Mask personal data and secrets in a text. Pure.

Rule: in doubt, mask. A string that looks random gets the same mask everywhere in one bundle, so that runs and
commits stay distinguishable.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from asbuilt.policy.masking import MASK, masked, names_a_secret

_SOME_KEY: Final = re.compile(r"[a-z0-9][_-]key\Z", re.IGNORECASE)
"""In a text a cache's key has such a name, too. The name of a field or a variable is masked in doubt."""
_SHORTEST: Final = 6
"""Shorter values of the environment are not masked: they would blank half of every text."""
_UNMISTAKABLE: Final = 5
"""A name of this length or more is masked inside other words, too."""

_EMAIL: Final = re.compile(r"(?<![\w.+%-])[\w.+%-]+@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_RUN: Final = re.compile(r"[A-Za-z0-9+/_=-]{20,}")
_WORD: Final = re.compile(
    r"[a-z]{1,15}\d{0,3}|[A-Z]{1,15}\d{0,3}|(?:[A-Z][a-z]{2,14})+\d{0,3}|\d{1,8}|\d{1,3}[a-z]|"
)


class Redaction(Struct, frozen=True, kw_only=True):
    """Names and values to mask, and the key of the masks."""

    homes: tuple[str, ...]
    """The home folder, by every path that leads to it."""
    names: tuple[tuple[str, str], ...]
    """Names of people and machines, each with its replacement."""
    secrets: tuple[str, ...]
    """Values known to be secret, masked everywhere."""
    salt: bytes
    """Random for every bug report, so that no guess can be tested against a mask."""

    def text(self, text: str) -> str:
        """Mask a text."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, MASK)
        text = masked(text)
        text = _EMAIL.sub("[e-mail]", text)
        for home in self.homes:
            text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
        text = _RUN.sub(lambda found: self._mask(found[0]), text)
        for name, mask in self.names:
            text = _named(name).sub(mask, text)
        return text

    def value(self, value: Any) -> Any:  # noqa: ANN401 - JSON is made of anything
        """Mask every text in a JSON value; a text under a secret's name is masked whole."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(str(key)): self._under(str(key), inner) for key, inner in value.items()}
            case list() | tuple():
                return [self.value(inner) for inner in value]
            case _:
                return value

    def _under(self, key: str, inner: object) -> object:
        return MASK if isinstance(inner, str) and inner and _is_secret(key) else self.value(inner)

    def _mask(self, run: str) -> str:
        if all(_WORD.fullmatch(piece) for piece in re.split(r"[+/_=-]", run)):
            return run
        return f"[masked {hashlib.blake2b(run.encode(), key=self.salt, digest_size=4).hexdigest()}]"


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of an environment that are secret by their names."""
    return tuple(value for name, value in environ.items() if len(value) >= _SHORTEST and _is_secret(name))


def _is_secret(name: str) -> bool:
    return names_a_secret(name) or _SOME_KEY.search(name) is not None


def _named(name: str) -> re.Pattern[str]:
    """Return a pattern for a name: a long one anywhere, a short one only as a whole word."""
    exact = re.escape(name)
    whole = exact if len(name) >= _UNMISTAKABLE else rf"(?<![A-Za-z0-9]){exact}(?![A-Za-z0-9])"
    return re.compile(whole, re.IGNORECASE)
