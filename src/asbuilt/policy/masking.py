"""Mask secrets in a text that leaves the machine. Pure. Rule: in doubt, mask.

Three passes: tokens with a known shape, then the value after every name of a secret, then the short options
with which a few programs take a password.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape
from itertools import pairwise
from typing import Final
from urllib.parse import quote

MASK: Final = "[secret]"
_SHORTEST: Final = 6
"""Shorter values are part of too many words: masking them would make outputs and counts unreadable."""

# No repeat may start at every character of a run: a log may hold one line of many thousand letters.
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
# A scope such as @types in a registry's URL follows a slash; a host never does.
_IN_URL: Final = re.compile(r"""(?<=://)[^\s"'<>]{1,300}(?<!/)@""")
_BEARER: Final = re.compile(r"(\bbearer\s+)\S{6,}", re.IGNORECASE | re.ASCII)

_NAME: Final = re.compile(r"[\w.-]+")
_HINT: Final = re.compile(r"pass|pwd|secret|token|key|credential|cookie|auth", re.IGNORECASE)
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PASSWORDS: Final = ("password", "passwd", "passphrase", "passcode", "pwd")
_HEADERS: Final = ("authorization", "cookie")
"""Headers; their values contain spaces."""
_KEYS: Final = (
    *("api", "access", "private", "secret", "signing", "encryption", "auth", "master", "account", "shared"),
)
"""Words before `key` that make it a secret; caches and tables have keys, too."""
_SECRETS: Final = (*_PASSWORDS, *_HEADERS, "secret", "token", "credential", *(f"{word}key" for word in _KEYS))
_ABOUT: Final = frozenset(("file", "path", "dir", "stdin", "count", "limit", "length", "type"))
"""Last words of names that describe a secret and do not hold it."""
_FOLDERS: Final = ("PWD", "OLDPWD")
_SEPARATOR: Final = re.compile(r"""\\*["'\]]{0,2}[ \t]*(?:=>|:=|={1,3}|:(?!:))[ \t]*""")
_LISTED: Final = re.compile(r"""\\*["'][ \t]*,\s*(?=\\*["'])""")
_SPACE: Final = re.compile(r"[ \t]+")
_QUOTE: Final = re.compile(r"""\\*["'`]""")
_BLOCK: Final = re.compile(r"[|>][-+0-9]{0,2}[ \t]*\n[ \t]*")
_WORD: Final = re.compile(r"""[^\s"'`]+""")
_LINE: Final = re.compile(r"""(?:[^\n"'`\\]|\\(?!["'`\\]))+""")
_COUNT: Final = re.compile(r"[\d.,]+")
_NETRC: Final = re.compile(r"(?:machine|login|user|account)\s+\S+\s+\Z")
_ALONE: Final = re.compile(r"[ \t]+\S+[ \t]*(?:\n|\Z)")

_OPTIONS: Final = {
    "p": "mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump sshpass login mongo mongosh 7z",
    "P": "zip unzip sqlcmd bcp",
    "a": "redis-cli http https xh",
    "w": "ldapsearch ldapadd ldapmodify ldapwhoami",
    "u": "curl",
    "U": "curl smbclient",
}
"""Short options with a password, or a user and password, and their programs; `login` is a common verb."""
_LETTERS: Final = {
    program: "".join(letter for letter, programs in _OPTIONS.items() if program in programs.split())
    for program in " ".join(_OPTIONS.values()).split()
}
_PROGRAM: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, _LETTERS))})(?=\\*[\"']?[,\s])")
_AFTER: Final = r"""(?:\\*["'][ \t]*,\s*|=|[ \t]+|)(?![\s,-])"""

_USER: Final = re.compile(r"(://)[^/\s@\"]*@")
_SIGNS_IN: Final = re.compile(
    r"^\s*(?:\w*(?:extraheader|pass|token|secret|cookiefile|apikey)\w*|helper|sslkey)\s*=",
    re.IGNORECASE,
)
_CONTINUATION: Final = re.compile(r"\\\n")


def masked(text: str) -> str:
    """Mask keys, tokens, passwords in URLs, and values that a name or an option marks as secret."""
    text = _KNOWN.sub(MASK, text)
    text = _IN_URL.sub(f"{MASK}@", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    text = _spliced(text, _NAME, _named_value)
    if _PROGRAM.search(text) is None:
        return text
    return "\n".join(map(_without_options, text.split("\n")))


def names_a_secret(name: str) -> bool:
    """Return whether a variable, field, option or header is named like a secret."""
    if _HINT.search(name) is None or name in _FOLDERS:
        return False
    pieces = [piece.lower() for piece in _PIECE.findall(name)]
    if not pieces or pieces[-1] in _ABOUT:
        return False
    joined = [*pieces, *(left + other for left, other in pairwise(pieces))]
    if any(piece.removesuffix("s").endswith(_SECRETS) for piece in joined) or name.endswith("_auth"):
        return True
    return pieces[-1] == "pass" and (len(pieces) > 1 or name.startswith("-"))


def _spliced(
    text: str, names: re.Pattern[str], value_of: Callable[[str, re.Match[str]], tuple[int, int] | None]
) -> str:
    """Mask the value that belongs to each name, if there is one."""
    parts: list[str] = []
    done = 0
    for name in names.finditer(text):
        found = value_of(text, name) if name.start() >= done else None
        if found is not None:
            parts += [text[done : found[0]], MASK]
            done = found[1]
    return "".join([*parts, text[done:]])


def _named_value(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Find the value of a name: after a separator, in a tag, next in a list, or after an option's space."""
    is_folder = name[0] in _FOLDERS
    if not is_folder and not names_a_secret(name[0]):
        return None
    end, last = name.end(), name[0].lower().removesuffix("s")
    if found := _SEPARATOR.match(text, end):
        value = _value(text, found.end(), _LINE if last.endswith(_HEADERS) else _WORD)
        is_count = last.endswith("token") and name[0][-1] in "sS"
        is_known = value and (
            (is_count and _COUNT.fullmatch(text, *value)) or (is_folder and text[value[0]] == "/")
        )
        return None if is_known else value
    if text[name.start() - 1 : name.start()] == "<" and text.startswith(">", end):
        return end + 1, max(text.find("<", end), end + 1)
    if found := _LISTED.match(text, end):
        return _value(text, found.end(), _WORD)
    found = _SPACE.match(text, end)
    if found is None or text.startswith("-", found.end()):
        return None
    is_option = name[0].startswith("-")
    is_password = last.endswith(_PASSWORDS) and (
        _QUOTE.match(text, found.end()) is not None
        or _NETRC.search(text, max(0, name.start() - 300), name.start()) is not None
        or (
            not text[text.rfind("\n", 0, name.start()) + 1 : name.start()].strip() and _ALONE.match(text, end)
        )
    )
    return _value(text, found.end(), _WORD) if is_option or is_password else None


def _without_options(line: str) -> str:
    programs = list(_PROGRAM.finditer(line))
    if not programs:
        return line
    letters = "".join(sorted({letter for program in programs for letter in _LETTERS[program[0]]}))
    long = "|--user|--proxy-user" if "u" in letters else ""
    options = re.compile(rf"""(?<![^\s"'])(?:-[^\W\d_{letters}]*[{letters}]{long}){_AFTER}""")
    start = programs[0].end()
    return line[:start] + _spliced(
        line[start:], options, lambda text, found: _value(text, found.end(), _WORD)
    )


def _value(text: str, start: int, plain: re.Pattern[str]) -> tuple[int, int] | None:
    """Return the span of a value: in quotes, in a YAML block, or what `plain` matches."""
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    if quoted := _QUOTE.match(text, start):
        end = quoted.end()
        while (end := text.find(quoted[0], end, line_end)) >= 0 and text[end - 1] == "\\" != quoted[0][0]:
            end += 1
        if end == quoted.end():
            return None
        return start, line_end if end < 0 else end + len(quoted[0])
    if block := _BLOCK.match(text, start):
        end = text.find("\n", block.end())
        return block.end(), len(text) if end < 0 else end
    found = plain.match(text, start)
    return None if found is None else found.span()


def forms_of(values: Iterable[str]) -> tuple[bytes, ...]:
    """Return every form in which programs print values: whole, by lines, URL-encoded, XML-escaped.

    Forms under 6 characters are left out. Longest first.
    """
    whole = {form for value in values for form in (value, *value.splitlines())}
    every = {form for value in whole for form in (value, quote(value), quote(value, safe=""), escape(value))}
    long = [form.encode() for form in every if len(form.strip()) >= _SHORTEST]
    return tuple(sorted(long, key=lambda form: (-len(form), form)))


def without(output: bytes, forms: Iterable[bytes]) -> bytes:
    """Mask known values in the output of a command."""
    for form in forms:
        output = output.replace(form, b"[secret]")
    return output


def without_logins(text: str) -> str:
    """Return git settings without logins in URLs and commands, and without lines that hold only a login."""
    lines = _CONTINUATION.sub("", text).splitlines(keepends=True)
    kept = "".join(line for line in lines if _SIGNS_IN.match(line) is None)
    clean = masked(_USER.sub(r"\1", kept))
    # Values over several lines are joined only if something was removed.
    return clean if clean != _CONTINUATION.sub("", text) else text
