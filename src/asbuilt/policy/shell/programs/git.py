"""Read-only git: its global options, verbs and operands are checked one by one.

Rule: a verb that is not known to only read is refused, and so is every form that may create something.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.programs import gitverbs
from asbuilt.policy.shell.programs.spec import Program
from asbuilt.policy.shell.programs.spec import judge as judge_options
from asbuilt.policy.shell.working_folder import Refused, writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.programs.spec import Given
    from asbuilt.policy.shell.working_folder import Place

# fmt: off
_GLOBAL = frozenset((
    "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs",
    "--noglob-pathspecs", "--icase-pathspecs", "--no-replace-objects", "--no-lazy-fetch", "--no-advice",
))
# fmt: on
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_NETWORK = frozenset(
    ("clone", "fetch", "ls-remote", "pull", "push", "remote-https", "send-email", "request-pull")
)

_HOLD_SECRETS = (
    "extraheader",
    "pass",
    "token",
    "secret",
    "cookie",
    "proxy",
    "apikey",
    "credential.",
    "sendemail.",
)
"""Parts of the names of settings whose values may be credentials."""


def judge(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one call of git; raises Refused."""
    del name
    folders = place.folders
    try:
        rest = _after_globals([*words], place)
        if rest:
            _verb(rest[0].text, rest[1:], place)
    finally:
        place.folders = folders


def _verb(verb: str, rest: Sequence[Word], place: Place) -> None:
    bare = place.bare_repository()
    if bare:
        raise Refused(
            f"{bare} may be a repository within the repository, whose settings git would obey.",
            f"git -C {place.root} …",
        )
    name = f"git {verb}"
    if len(rest) == 1 and rest[0].text == "-h":
        return
    if verb == "annotate":
        verb = "blame"
    if verb in gitverbs.CONTENT:
        judge_options(name, Program(f"texts:{gitverbs.CONTENT[verb]}", _shown), rest, place)
    elif verb in gitverbs.NAMES:
        check = {"branch": _made, "tag": _made}.get(verb, _listed)
        judge_options(name, Program(f"texts:{gitverbs.NAMES[verb]}", check), rest, place)
    elif verb in gitverbs.SECOND:
        _second(verb, rest, place)
    elif verb == "config":
        judge_options(name, Program(f"texts plain:{gitverbs.CONFIG}", _config), rest, place)
    elif verb == "reflog":
        _reflog(rest, place)
    elif verb == "symbolic-ref":
        row = "texts plain least=1 most=1: -q --quiet --short --recurse --no-recurse"
        judge_options(name, Program(row), rest, place)
    elif verb == "var":
        judge_options(name, Program("texts plain least=1 most=1:"), rest, place)
    elif verb in ("version", "--version", "-v", "--exec-path", "--html-path", "--man-path", "--info-path"):
        judge_options(name, Program("none: --build-options"), rest, place)
    elif verb in _NETWORK:
        raise Refused(
            f"git {verb} reaches another machine, and planning stays on this one.", "git log origin/main"
        )
    else:
        raise writes(f"git {verb} is not on the list of verbs that only read", _nearest(verb))


def _nearest(verb: str) -> str:
    return {
        "add": "git status",
        "am": "git log",
        "checkout": "git show REVISION:PATH",
        "commit": "git status, git diff",
        "merge": "git log HEAD..BRANCH",
        "rebase": "git log HEAD..BRANCH",
        "reset": "git diff",
        "restore": "git show REVISION:PATH",
        "switch": "git log BRANCH",
        "difftool": "git diff",
        "help": "git VERB -h",
    }.get(verb, "git log, git show, git diff, git status")


def _after_globals(rest: list[Word], place: Place) -> list[Word]:
    """Consume git's global options; an option that changes where git reads or what it starts is refused."""
    while rest and rest[0].text.startswith("-"):
        text = rest[0].text
        if text in _GLOBAL:
            del rest[0]
        elif text == "-C" and len(rest) > 1 and not rest[1].pattern:
            place.inside(rest[1].text, alone=True)
            del rest[:2]
        elif text == "-c" and len(rest) > 1 and _is_inert(rest[1].text):
            del rest[:2]
        elif text in ("--version", "-v", "--exec-path", "--html-path", "--man-path", "--info-path"):
            return rest
        else:
            raise writes(f"git {text} may change what git starts or writes", "git --no-pager log")
    return rest


def _is_inert(setting: str) -> bool:
    key, _, value = setting.partition("=")
    key = key.lower()
    if key == "core.pager" or key.startswith("pager."):
        return value in ("cat", "false", "")
    return key in gitverbs.INERT_SETTINGS and _PLAIN.issuperset(value)


def _shown(given: Given, place: Place) -> None:
    """Check operands that name revisions, files, or files in revisions."""
    if any(_starts_gpg(value) for value in given.values("--format", "--pretty")):
        raise writes("%G in a format of git starts gpg", "git log --format='%h %an %s'")
    if any(value in ("r", "remerge") for value in given.values("--diff-merges")):
        raise writes("a diff that repeats a merge writes objects", "git show -m")
    operands = given.operands
    if given.name == "git grep" and not given.has("-e", "-f") and operands and given.parted != 0:
        operands = operands[1:]
    if given.name == "git apply" and not given.options:
        raise writes("git apply changes files", "git apply --stat FILE")
    if given.has("--no-index"):
        for word in operands:
            place.tree(word)
    ranges = (value.rpartition(":")[2] for value in given.values("-L") if ":" in value)
    for word in [*operands, *map(Word, ranges)]:
        for path in _paths(word.text):
            place.content(Word(path, pattern=path), by_shell=bool(word.pattern))
            place.filtered(path)


def _starts_gpg(form: str) -> bool:
    """Return whether a format asks for a signature: %G and a letter, also with a sign between."""
    return "signature" in form or any(piece.lstrip("+- ").startswith("G") for piece in form.split("%")[1:])


def _paths(text: str) -> list[str]:
    """Return the parts of an operand that may be a path: git expands patterns and reads paths after `:`."""
    if text.startswith((":!", ":^", ":(exclude)")):
        return []
    found = [text]
    if text.startswith(":("):
        found.append(text.partition(")")[2])
    if ":" in text:
        found.append(text.rpartition(":")[2].lstrip("/"))
        found.append(text.partition(":")[2].lstrip(":/"))
    return [path for path in found if path]


def _listed(given: Given, place: Place) -> None:
    if any(_starts_gpg(value) for value in given.values("--format", "--pretty", "--group", "--sort")):
        raise writes("that format of git starts gpg")
    for value in given.values("--exclude-per-directory"):
        if "/" in value:
            raise Refused(
                f"{value} is read from every folder, also from outside.", "git ls-files --exclude-standard"
            )
        place.content(Word(value))


def _made(given: Given, place: Place) -> None:
    """Check branch and tag: with a name and without a filter they make one."""
    _listed(given, place)
    verb = given.name.removeprefix("git ")
    filters = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
    if given.operands and not given.has(*filters, *(("-n",) if verb == "tag" else ())):
        raise writes(
            f"{given.name} {given.operands[0].text} makes a {verb}", f"{given.name} --list 'PATTERN'"
        )


def _config(given: Given, place: Place) -> None:
    del place
    operands = [word.text for word in given.operands]
    if operands[:1] in (["get"], ["list"]):
        most = 2 if operands[0] == "get" else 1
    else:
        most = 2 if given.has(*gitverbs.CONFIG_READS) else 1
    if any(word in text.lower() for text in operands for word in _HOLD_SECRETS):
        raise Refused(f"{operands[-1]} may hold a password or a token.", "git config --get user.name")
    if len(operands) > most:
        raise writes("git config with a value sets it", "git config --get KEY")
    is_key = given.has("--get-regexp") or operands[:1] == ["list"] or "." in "".join(operands[:1])
    if len(operands) == 1 and not is_key:
        raise writes(f"git config {operands[0]} is not understood", "git config --get KEY")
    lists = given.has("--list", "-l") or operands == ["list"]
    if not operands and not lists:
        raise writes("git config is not understood without a key", "git config --list --name-only")
    many = lists or given.has("--get-regexp", "--get-urlmatch", "--regexp", "--url")
    if many and (given.has("--get-urlmatch", "--regexp", "--url") or not given.has("--name-only")):
        raise Refused(
            "The values of several settings of git may hold a password or a token.",
            "git config --list --name-only, git config --get user.name",
        )


def _reflog(rest: Sequence[Word], place: Place) -> None:
    first = rest[0].text if rest else ""
    changes = [word.text for word in rest if word.text in ("expire", "delete", "drop", "write")]
    if changes:
        raise writes(f"git reflog {changes[0]} changes it", "git reflog show")
    words = rest[1:] if first in ("show", "list") else rest
    judge_options("git reflog", Program(f"texts:{gitverbs.CONTENT['log']}", _shown), words, place)


def _second(verb: str, rest: Sequence[Word], place: Place) -> None:
    forms = gitverbs.SECOND[verb]
    first = rest[0].text if rest else ""
    if first.startswith("-") and first not in forms:
        first = ""
    if first not in forms:
        allowed = ", ".join(f"git {verb} {form}".rstrip() for form in forms)
        raise writes(f"git {verb} {first}".rstrip() + " is not on the list of what only reads", allowed)
    options, most = forms[first]
    words = rest[1:] if first else rest
    judge_options(f"git {verb} {first}", Program(f"texts most={most}:{options}", _shown), words, place)
