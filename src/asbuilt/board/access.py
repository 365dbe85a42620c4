"""Decide whether a request may reach the board. Pure.

Rule: host, path, origin and cookie are checked, in this order, before a request is routed. A request that is
not known to be allowed is refused.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

ENTER: Final = "/enter/"
STATIC: Final = "/static/"
_READS: Final = ("GET", "HEAD")
_PATH: Final = re.compile(rb"(/[A-Za-z0-9._~@:+,=-]*)+")
"""Paths that need no decoding. Names of plans and runs are put into paths in this form."""
_DOTS: Final = re.compile(rb"/\.{1,2}(/|$)|//")
_MAX_PATH: Final = 2_000
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # With no-referrer a browser sends `Origin: null` for our own forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer."""


class Verdict(Enum):
    """What happens to a request, with the status code of a refusal."""

    PASS = 200
    ENTER = 303
    """The link with a one-time token: it is exchanged for the cookie."""
    RELOAD = 202
    """A link on another site. The browser withholds the cookie, so a static page reloads itself."""
    BAD_PATH = 400
    NO_LOGIN = 401
    FOREIGN = 403
    BAD_METHOD = 405
    WRONG_HOST = 421


class Place(NamedTuple):
    """Where the board listens, and what its cookie is."""

    scheme: str
    hosts: frozenset[str]
    """Allowed values of the Host header, with the port."""
    port: int
    cookie: str

    @property
    def address(self) -> str:
        """What links to the board start with; on this machine a number, which needs no name resolution."""
        return f"{self.scheme}://{min(self.hosts)}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name carries the port: browsers share cookies between the ports of a host."""
        return f"asbuilt_board_{self.port}"


def decide(place: Place, method: str, raw_path: bytes, headers: Mapping[str, Sequence[str]]) -> Verdict:
    """Decide about a request. Header names are lower-case; each has all its values."""
    host = _single(headers, "host")
    if host not in place.hosts:
        return Verdict.WRONG_HOST
    if len(raw_path) > _MAX_PATH or not _PATH.fullmatch(raw_path) or _DOTS.search(raw_path):
        return Verdict.BAD_PATH
    path = raw_path.decode("ascii")
    if method != "POST" and method not in _READS:
        return Verdict.BAD_METHOD
    site = _single(headers, "sec-fetch-site", absent="none")
    origin = _single(headers, "origin", absent="")
    is_ours = origin == f"{place.scheme}://{host}"
    if method == "POST":
        if not is_ours or site not in ("same-origin", "none"):
            return Verdict.FOREIGN
    elif origin and not is_ours:
        return Verdict.FOREIGN
    elif site not in ("same-origin", "none"):
        is_link = headers.get("sec-fetch-mode") == ["navigate"] and headers.get("sec-fetch-dest") == [
            "document"
        ]
        return Verdict.RELOAD if is_link else Verdict.FOREIGN
    if path.startswith(STATIC):
        return Verdict.PASS
    if path.startswith(ENTER):
        return Verdict.ENTER if method == "GET" else Verdict.BAD_METHOD
    return Verdict.PASS if _has_cookie(place, headers) else Verdict.NO_LOGIN


def _single(headers: Mapping[str, Sequence[str]], name: str, absent: str | None = None) -> str | None:
    """Return a header's only value; None, which equals nothing that is allowed, if it has several."""
    values = headers.get(name, ())
    return values[0] if len(values) == 1 else absent if not values else None


def _has_cookie(place: Place, headers: Mapping[str, Sequence[str]]) -> bool:
    """Compare every cookie of our name in constant time.

    Another port of the host may have set one more, so one that is right is enough.
    """
    pairs = (pair.strip().partition("=") for value in headers.get("cookie", ()) for pair in value.split(";"))
    ours = [value for name, _, value in pairs if name == place.cookie_name]
    wanted = place.cookie.encode()
    return any(hmac.compare_digest(value.encode(), wanted) for value in ours)
