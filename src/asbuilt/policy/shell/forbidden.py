"""Find in a shell command what no agent may do: commit, push, reach the network, write elsewhere. Pure.

This is a filter, not a boundary: it reads the plain text of a command. Scripts, variables and other languages
pass it, and are left to the sandbox.

Rule: everything that looks like the start of a command is checked, also within quotes and substitutions.
"""

from __future__ import annotations

import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Writes = Callable[[str], str | None]

# fmt: off
_NETWORK = frozenset((
    "aria2c", "aws", "az", "curl", "dig", "docker", "ftp", "gcloud", "getent", "gh", "glab", "host", "hub",
    "kubectl", "lftp", "nc", "ncat", "netcat", "nslookup", "ping", "podman", "rsync", "scp", "sftp", "socat",
    "ssh", "telnet", "tftp", "wget", "xh",
))
_LATER = frozenset(("at", "batch", "crontab", "launchctl", "systemctl", "systemd-run"))
_GIT_READS = frozenset((
    "annotate", "blame", "cat-file", "check-attr", "check-ignore", "count-objects", "describe", "diff",
    "diff-files", "diff-index", "diff-tree", "for-each-ref", "grep", "help", "log", "ls-files", "ls-tree",
    "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "status",
    "var", "version", "whatchanged",
))
_GIT_LISTS = {
    "branch": {"-a", "-r", "-v", "-vv", "--all", "--list", "--show-current"},
    "remote": {"-v"},
    "stash": {"list"},
    "tag": {"-l", "--list"},
    "worktree": {"list"},
}
_SHELLS = frozenset(("ash", "bash", "dash", "ksh", "sh", "zsh"))
_WRAPPERS = frozenset((
    "!", "builtin", "busybox", "command", "do", "doas", "elif", "else", "env", "exec", "if", "ionice", "nice",
    "nohup", "setsid", "stdbuf", "sudo", "then", "time", "timeout", "until", "while", "xargs",
))
_CHANGE_ALL = frozenset((
    "chgrp", "chmod", "chown", "mkdir", "mkfifo", "mknod", "mv", "rm", "rmdir", "shred", "tee", "touch",
    "truncate", "unlink",
))
_CHANGE_LAST = frozenset(("cp", "install", "ln"))
# fmt: on
_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/")
_ENDS = frozenset(";&|\n(){}")
_UNKNOWN = "\0"
"""Placeholder for the part of a word that only the shell knows."""
_DEEPEST = 8
_TOO_DEEP = "The command is nested too deeply."
_LONGEST = 100_000


class _Command:
    """One simple command: its words, its redirection targets, and its here-documents and here-strings."""

    __slots__ = ("fed", "targets", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.targets: list[str] = []
        self.fed: list[str] = []


def forbidden(text: str, *, cwd: str, home: str, writes: Writes) -> str | None:
    """Return why a command is refused, or None. `writes` returns why a path may not be written, or None."""
    if "\0" in text or len(text) > _LONGEST:
        return "The command cannot be read."
    return _Reading(cwd, home, writes).of(text, 0)


class _Reading:
    """State of the parser: the folder in which the shell is."""

    def __init__(self, cwd: str, home: str, writes: Writes) -> None:
        self._cwd: str | None = cwd
        self._home = home
        self._writes = writes

    def of(self, text: str, depth: int) -> str | None:
        if depth > _DEEPEST:
            return _TOO_DEEP
        reader = _Reader(text)
        while not reader.is_over:
            command, nested = reader.command()
            refused = self._command(command.words, command.fed, depth) or self._written(command.targets)
            if refused := refused or self._any_of(nested, depth):
                return refused
        return None

    def _any_of(self, texts: list[str], depth: int) -> str | None:
        return next((refusal for text in texts if (refusal := self.of(text, depth + 1))), None)

    def _command(self, words: list[str], fed: list[str], depth: int) -> str | None:
        while words and ("=" in words[0] or not words[0] or posixpath.basename(words[0]) in _WRAPPERS):
            words = _unwrapped(words[1:])
        if not words:
            return None
        program, rest = posixpath.basename(words[0]), words[1:]
        if program in ("cd", "pushd"):
            self._cwd = self._path(rest[0] if rest else "~")
            return None
        if program in _SHELLS or program == "eval":
            inner = [" ".join(rest)] if program == "eval" else _scripts(rest) or fed
            return self._any_of(inner, depth)
        return _named(program, rest) or self._changed(program, rest, depth)

    def _changed(self, program: str, rest: list[str], depth: int) -> str | None:
        plain = [word for word in rest if not word.startswith("-")]
        if program in _CHANGE_ALL:
            return self._written(plain)
        if program in _CHANGE_LAST:
            return self._written([*plain[-1:], *_valued(rest, "-t", "--target-directory")])
        if program in ("sed", "perl") and any(word.startswith(("-i", "--in-place")) for word in rest):
            given = any(word.startswith(("-e", "-f", "--expression", "--file")) for word in rest)
            return self._written(plain if given else plain[1:])
        if program == "dd":
            return self._written([word[3:] for word in rest if word.startswith("of=")])
        if program in ("tar", "unzip", "patch", "make"):
            return self._written(_valued(rest, "-C", "-d", "--directory"))
        if program == "find":
            return self._found(rest, depth)
        return None

    def _found(self, rest: list[str], depth: int) -> str | None:
        if depth > _DEEPEST:
            return _TOO_DEEP
        for at, word in enumerate(rest):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                refused = self._command(rest[at + 1 :], [], depth + 1)
                if refused:
                    return refused
        starts = []
        for word in rest:
            if word.startswith(("-", "!")):
                break
            starts.append(word)
        return self._written(starts or ["."]) if "-delete" in rest else None

    def _written(self, paths: list[str]) -> str | None:
        for word in paths:
            path = self._path(word)
            if path is not None and not path.startswith(_DEVICES) and (refused := self._writes(path)):
                return refused
        return None

    def _path(self, word: str) -> str | None:
        """Return the absolute path of a word as far as it is plain; None if no part of it is."""
        if word == "~" or word.startswith("~/"):
            word = self._home + word[1:]
        plain, unknown, _ = word.partition(_UNKNOWN)
        if unknown and not plain:
            return None
        if not plain.startswith("/"):
            if self._cwd is None:
                return None
            plain = f"{self._cwd}/{plain}"
        return posixpath.normpath(plain)


def _named(program: str, rest: list[str]) -> str | None:
    """Refuse a program by its name, and git by its verb and options."""
    if program in _NETWORK:
        return f"{program} reaches the network or another machine; agents do not."
    if program in _LATER:
        return f"{program} starts something later, outside the sandbox."
    if program.startswith("asbuilt"):
        return "asbuilt's own commands are for people."
    if program == "git":
        return _git(rest)
    if program in ("npm", "yarn", "pnpm", "cargo", "twine", "uv", "poetry", "gem") and (
        "publish" in rest[:2] or (program, *rest[:1]) in (("twine", "upload"), ("gem", "push"))
    ):
        return f"{program} would publish something; agents do not."
    return None


def _git(rest: list[str]) -> str | None:
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        if rest[at] in ("-c", "--config-env") or rest[at].startswith(("--config-env=", "--exec-path=")):
            return "Settings of git can start programs; agents give none."
        at += 2 if rest[at] in ("-C", "--git-dir", "--work-tree", "--namespace") else 1
    verb = rest[at] if at < len(rest) else "help"
    words = rest[at + 1 :]
    if words[:1] in (["-l"], ["--list"]):
        words = [word for word in words if word.startswith("-")]
    lists = {*words} <= _GIT_LISTS.get(verb, set()) and (words or verb in ("branch", "remote", "tag"))
    if verb not in _GIT_READS and not lists:
        return (
            f"`git {verb.replace(_UNKNOWN, '…')}` is asbuilt's to do: agents leave their work in the files."
        )
    if any(word.startswith(("--output", "--ext-diff", "--open-files-in-pager", "-O")) for word in rest[at:]):
        return "That option of git writes a file or starts a program."
    return None


def _scripts(rest: list[str]) -> list[str]:
    """Return the script that a shell gets with -c."""
    for at, word in enumerate(rest):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return rest[at + 1 : at + 2]
    return []


def _unwrapped(words: list[str]) -> list[str]:
    """Skip a wrapper's own words: options, assignments, a duration, a placeholder."""
    for at, word in enumerate(words):
        taken = word.startswith("-") or "=" in word or word[:1].isdigit() or word in ("{}", "")
        if not taken:
            return words[at:]
    return []


def _valued(rest: list[str], *options: str) -> list[str]:
    found = []
    for at, word in enumerate(rest):
        name, equals, value = word.partition("=")
        if equals and name in options:
            found.append(value)
        elif word in options:
            found += rest[at + 1 : at + 2]
    return found


class _Reader:
    """Splits a text into commands and words, character by character, as a shell would."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._nested: list[str] = []
        self._waiting: list[tuple[str, _Command]] = []

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._text)

    def command(self) -> tuple[_Command, list[str]]:
        """Read up to the end of a command; also return the texts of its substitutions."""
        command, self._nested = _Command(), []
        while not self.is_over:
            character = self._text[self._at]
            if character in " \t":
                self._at += 1
            elif character == "#":
                self._at = self._until("\n", self._at)
            elif character in "<>" or self._text.startswith("&>", self._at):
                self._redirection(command)
            elif character in _ENDS:
                self._at += 1
                if character == "\n":
                    self._bodies()
                break
            else:
                word = self._word()
                if not (word.isdigit() and self._text[self._at : self._at + 1] in ("<", ">")):
                    command.words.append(word)
        return command, self._nested

    def _redirection(self, command: _Command) -> None:
        start = self._at
        while not self.is_over and self._text[self._at] in "<>&|-" and self._at - start < 3:
            if self._text[self._at] == "-" and self._text[start : self._at] != "<<":
                break
            self._at += 1
        sign = self._text[start : self._at]
        if self._text.startswith("(", self._at):
            self._nested.append(self._enclosed(self._at + 1))
            return
        while not self.is_over and self._text[self._at] in " \t":
            self._at += 1
        target = self._word()
        if sign.startswith("<<") and sign != "<<<":
            self._waiting.append((target, command))
        elif sign == "<<<":
            command.fed.append(target)
        elif ">" in sign and not (sign.endswith("&") and (target.isdigit() or target in ("", "-"))):
            command.targets.append(target)

    def _word(self) -> str:
        made: list[str] = []
        self._pieces(made, quoted=False)
        return "".join(made)

    def _pieces(self, made: list[str], *, quoted: bool) -> None:
        """Read the pieces of a word, or of its part in double quotes."""
        while not self.is_over:
            character = self._text[self._at]
            if not quoted and (character in " \t<>" or character in _ENDS):
                break
            self._at += 1
            if quoted and character == '"':
                break
            if character == "\\":
                escaped = self._text[self._at : self._at + 1]
                made.append(escaped if quoted else escaped.replace("\n", ""))
                self._at += 1
            elif character in "$`":
                made.append(self._expansion(character, is_first=not made))
            elif quoted:
                made.append(character)
            elif character == "'":
                made.append(self._taken("'"))
            elif character == '"':
                self._pieces(made, quoted=True)
            else:
                made.append(_UNKNOWN if character in "*?[" else character)

    def _expansion(self, character: str, *, is_first: bool) -> str:
        if character == "`":
            self._nested.append(self._taken("`"))
        elif self._text.startswith("(", self._at):
            self._nested.append(self._enclosed(self._at + 1))
        elif self._text.startswith(("HOME/", "{HOME}/"), self._at) and is_first:
            self._at = self._text.index("/", self._at)
            return "~"
        else:
            while not self.is_over and (self._text[self._at].isalnum() or self._text[self._at] in "_{}"):
                self._at += 1
        return _UNKNOWN

    def _taken(self, sign: str) -> str:
        """Return the text up to a sign, and skip both."""
        end = self._until(sign, self._at)
        text, self._at = self._text[self._at : end], end + 1
        return text

    def _enclosed(self, start: int) -> str:
        """Return the text in parentheses; a parenthesis in quotes or in a case pattern does not close it."""
        quoted, cases, at = [False], 0, start
        while at < len(self._text):
            character = self._text[at]
            if character == "\\":
                at += 1
            elif character == "'" and not quoted[-1]:
                at = self._until("'", at + 1)
            elif character == '"':
                quoted[-1] = not quoted[-1]
            elif character == "(" and (not quoted[-1] or self._text[at - 1] == "$"):
                quoted.append(False)
            elif character == ")" and not quoted[-1] and (len(quoted) > 1 or not cases):
                quoted.pop()
                if not quoted:
                    break
            elif character in "ce" and not self._text[at - 1].isalnum():
                cases += self._text.startswith("case ", at) - (
                    self._text.startswith("esac", at) and cases > 0
                )
            at += 1
        self._at = at + 1
        return self._text[start:at]

    def _bodies(self) -> None:
        """Read the bodies of here-documents: plain text, unless a shell reads them."""
        for word, command in self._waiting:
            lines: list[str] = []
            while not self.is_over:
                line = self._taken("\n")
                if line.strip("\t") == word:
                    break
                lines.append(line)
            command.fed.append("\n".join(lines))
        self._waiting = []

    def _until(self, sign: str, start: int) -> int:
        found = self._text.find(sign, start)
        return len(self._text) if found < 0 else found
