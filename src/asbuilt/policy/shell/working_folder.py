"""The folder of a command line, and the paths that it may read from there. Pure: the caller resolves paths.

Rule: a path is judged as written and as resolved, from every folder in which the shell may be.
"""

from __future__ import annotations

from asbuilt.policy.plan_mode import secret_paths as secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from asbuilt.policy.shell.expansion import Expansion
    from asbuilt.policy.shell.lexer import Word

    Held = Callable[[str, secrets.Reach], bool]

_MOST_FOLDERS = 6
_MOST_EXPANSIONS = 40
_MOST_FOLLOWED = 200
"""Names of a folder that are checked where links are followed; links come first."""


class Refused(Exception):
    """Why a command may not run in plan mode; `allowed` is the nearest form that may."""

    def __init__(self, why: str, allowed: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.allowed = allowed


def writes(why: str, allowed: str = "") -> Refused:
    """Return the refusal of a command that would, or might, change something."""
    return Refused(f"plan mode is read-only and {why}.", allowed)


class Place:
    """The folders in which the shell may be, and what is known of the machine."""

    __slots__ = ("_exists", "_expansions", "_names", "_resolve", "fed", "folders", "home", "reach", "root")

    def __init__(  # noqa: PLR0913  what is known of the machine
        self,
        *,
        cwd: str,
        home: str,
        root: str,
        resolve: Callable[[str], str] | None,
        exists: Callable[[str], bool] | None,
        names: Callable[[str], Sequence[str]] | None = None,
        opened: Sequence[str] = (),
    ) -> None:
        self.folders = [_clean(cwd)]
        self.fed: list[Word] = []
        """The command whose output the judged command reads; empty: none."""
        self.home = _clean(home) if home.startswith("/") else ""
        self.root = _clean(root or cwd)
        self._resolve = resolve
        self._exists = exists
        self._names = names
        self._expansions: dict[tuple[str, str], Expansion] = {}
        may = (self.root, *map(_clean, opened))
        homes = (self.home, self._real(self.home)) if self.home else ()
        self.reach = secrets.Reach(homes, (*may, *map(self._real, may)))

    def expanded(self, word: Word) -> None:
        """Check a wildcard that the shell expands: it lists folders, whatever the program is."""
        _check_length(word)
        if any(self.reach.closes(path, pattern=True) for path in self._from_folders(word.pattern)):
            raise self._closed(word.text)
        self._refuse(
            word.text, self._listed(word), secrets.is_secret_folder, f"{word.text} lists a folder of secrets."
        )

    def content(self, word: Word, *, by_shell: bool = True) -> None:
        """Check a file that a program reads; not `by_shell`: its wildcards are the program's own."""
        why = f"{word.text} holds secrets, and no command of an agent reads those."
        self._refuse(word.text, self._meanings(word.text), secrets.is_secret, why)
        _check_length(word)
        for path in self._unexpanded(word, by_shell=by_shell):
            if secrets.is_secret(path, self.reach, pattern=True):
                raise Refused(f"{word.text} may stand for a file with secrets; name the files you need.")
        if by_shell:
            self._refuse_matches(word, secrets.is_secret)

    def tree(self, word: Word) -> None:
        """Check a folder that a program reads recursively."""
        text = self.folder_before(word.pattern) if word.pattern else word.text
        why = (
            f"{text} holds folders with secrets, and this reads all that is in it; search in the repository."
        )
        self._refuse(text, self._meanings(text), secrets.holds_secrets, why)
        self._refuse_matches(word, secrets.holds_secrets)

    def followed(self, word: Word, allowed: str) -> None:
        """Check a folder in which a program follows links; links deeper in it are not checked."""
        starts = [*self._meanings(word.text), *(path for _, path in self._matches(word))]
        for folder in dict.fromkeys(map(self._real, starts)):
            for name in (self._names(folder) if self._names else ())[:_MOST_FOLLOWED]:
                path = f"{folder.rstrip('/')}/{name}"
                real = self._real(path)
                if (
                    real != path
                    and not self.has(real)
                    and (secrets.holds_secrets(real, self.reach) or secrets.is_secret(real, self.reach))
                ):
                    raise Refused(
                        f"{name} in {word.text} is a link out of {self.root}, to what planning does not read,"
                        " and this follows links.",
                        allowed,
                    )

    def folder_before(self, pattern: str) -> str:
        """Return the folder in which a pattern starts."""
        plain = pattern
        for sign in "*?[":
            plain = plain.partition(sign)[0]
        return plain.rpartition("/")[0] or ("/" if plain.startswith("/") else ".")

    def listing(self, word: Word) -> None:
        """Check a path of which a program shows name, kind and size."""
        why = f"{word.text} is a folder of secrets, or of the running system."
        self._refuse(word.text, self._meanings(word.text), _is_closed_folder, why)
        self._refuse_matches(word, secrets.is_secret_folder)

    def named(self, *words: Word) -> None:
        """Check files of which a program shows whether they exist, and their kind."""
        for word in words:
            if any(self.reach.closes(path) for path in self._meanings(word.text)):
                raise self._closed(word.text)

    def filtered(self, text: str) -> None:
        """Check a name pattern by which a program selects files to read."""
        if secrets.aims_at_secret(text):
            raise Refused(f"{text} picks out files with secrets, and no command of an agent reads those.")

    def left_out(self, text: str) -> None:
        """Check a name pattern of the files that a program leaves out."""
        if secrets.leaves_secrets(text):
            raise Refused(f"{text} leaves out files by wildcards alone; name what is to be left out.")

    def inside(self, text: str, *, alone: bool) -> None:
        """Change to another folder of the repository; not `alone`: the shell may also stay where it is."""
        targets = []
        for folder in self.folders:
            joined = text if text.startswith("/") else f"{folder}/{text}"
            for target in (_clean(joined), self._real(joined)):
                if not self.has(target):
                    raise Refused(
                        f"{text} is outside {self.root}, and a planning command stays in its repository.",
                        f"ls {text}",
                    )
            targets.append(self._real(joined))
        self.folders = list(dict.fromkeys([*targets, *([] if alone else self.folders)]))
        if len(self.folders) > _MOST_FOLDERS:
            raise Refused("It changes folders more often than can be followed; split it.")

    def has(self, path: str) -> bool:
        """Return whether a clean path is in the repository."""
        return any(_is_below(path, root) for root in (self.root, self._real(self.root)))

    def bare_repository(self) -> str:
        """Return a folder, from the root down to the shell's folder, that git may take for a repository.

        A checkout can contain a bare repository as plain files, and git runs the programs that its config
        names.
        """
        real = self._real(self.root)
        for folder in self.folders:
            below, at = self._real(folder), real
            if not _is_below(below, real):
                if self._looks_bare(below):
                    return below
                continue
            for part in [part for part in below[len(real) :].split("/") if part]:
                at = f"{at.rstrip('/')}/{part}"
                if part.endswith(".git") or self._looks_bare(at):
                    return at
        return ""

    def _refuse(self, text: str, paths: Iterable[str], is_held: Held, why: str) -> None:
        for path in paths:
            if self.reach.closes(path):
                raise self._closed(text)
            if is_held(path, self.reach):
                raise Refused(why)

    def _refuse_matches(self, word: Word, is_held: Held) -> None:
        """Check the files that the shell replaces a wildcard with."""
        for match, path in self._matches(word):
            if self.reach.closes(path):
                what = f"is in a home and outside {self.root}: planning reads nothing else of a home"
            elif is_held(path, self.reach):
                what = "holds secrets"
            else:
                continue
            allowed = "the same with the names of the files you need"
            raise Refused(f"{word.text} stands for {match} too, which {what}.", allowed)

    def _closed(self, text: str) -> Refused:
        return Refused(
            f"{text} is in a home and outside {self.root}: planning reads nothing else of a home.", "ls ."
        )

    def _looks_bare(self, folder: str) -> bool:
        return self._exists is not None and self._exists(f"{folder}/HEAD")

    def _meanings(self, text: str) -> Iterator[str]:
        """Yield every absolute path that a word may mean, as written and as resolved."""
        yield from self._from_folders(text)
        for folder in self.folders:
            yield self._real(text if text.startswith("/") else f"{folder}/{text}")

    def _from_folders(self, text: str) -> Iterator[str]:
        for folder in self.folders:
            yield _joined(folder, text)

    def _expanded(self, pattern: str) -> Iterator[tuple[str, Expansion]]:
        """Expand a pattern in every folder in which the shell may be; results are cached."""
        if self._names is None or not secrets.is_wild(pattern) or len(pattern) > secrets.LONGEST_PATTERN:
            return
        # Loaded only for a command with a wildcard: a hook pays for each module.
        made = __import__("asbuilt.policy.shell.expansion", fromlist=["Expansion"]).Expansion
        for folder in self.folders:
            known = self._expansions.get((folder, pattern))
            if known is None:
                if len(self._expansions) >= _MOST_EXPANSIONS:
                    raise Refused("It has more wildcards than can be followed; split it.")
                known = made(pattern, folder, names=self._names, exists=self._exists)
                self._expansions[folder, pattern] = known
            yield folder, known

    def _matches(self, word: Word) -> Iterator[tuple[str, str]]:
        """Yield each path that a word matches, in its form for messages, as written and as resolved."""
        for folder, expansion in self._expanded(word.pattern):
            for match in expansion.matches:
                shown = match[len(folder) + 1 :] if match.startswith(f"{folder}/") else match
                for path in dict.fromkeys((_clean(match), self._real(match))):
                    yield shown, path

    def _unexpanded(self, word: Word, *, by_shell: bool) -> Iterator[str]:
        """Yield a pattern from each folder in which its matches are unknown, incomplete or none."""
        known = dict(self._expanded(word.pattern)) if by_shell else {}
        for folder in self.folders if word.pattern else ():
            expansion = known.get(folder)
            if expansion is None or not (expansion.complete and expansion.matches):
                yield _joined(folder, word.pattern)

    def _listed(self, word: Word) -> Iterator[str]:
        """Yield each folder whose names the shell reveals when it replaces a word."""
        for _, expansion in self._expanded(word.pattern):
            parents = [match.rstrip("/").rpartition("/")[0] or "/" for match in expansion.matches]
            for listed in dict.fromkeys([*expansion.listed, *parents]):
                yield from dict.fromkeys((_clean(listed), self._real(listed)))

    def _real(self, path: str) -> str:
        if self._resolve is None or path in ("/dev/null", "/dev/stdin", "/dev/zero"):
            return _clean(path)
        return _clean(self._resolve(path))


def _is_closed_folder(path: str, reach: secrets.Reach) -> bool:
    return secrets.is_secret_folder(path, reach) or path.startswith(("/proc/", "/dev/"))


def _check_length(word: Word) -> None:
    if len(word.pattern) > secrets.LONGEST_PATTERN:
        raise Refused("A pattern of file names is too long to be compared; name the files you need.")


def _joined(folder: str, text: str) -> str:
    return _clean(text if text.startswith("/") else f"{folder}/{text}")


def _clean(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
