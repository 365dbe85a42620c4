"""Where a command line stands, and which paths it may look at from there. Pure: the real path is asked for.

The one rule: a path is judged as it is written and as it resolves, from every folder the shell may stand in.
"""

from __future__ import annotations

from asbuilt.policy.secrets import (
    LONGEST_PATTERN,
    aims_at_secret,
    holds_secrets,
    is_secret,
    is_secret_folder,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from asbuilt.policy.lexer import Word

_MOST_FOLDERS = 6


class Refused(Exception):
    """Why a command may not run while planning is held; `allowed` is the nearest form that may."""

    def __init__(self, why: str, allowed: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.allowed = allowed


def writes(why: str, allowed: str = "") -> Refused:
    """Refuse what would change something, or might."""
    return Refused(f"planning is read-only and {why}.", allowed)


class Place:
    """The folders in which the shell may stand now, and what is known of the machine."""

    __slots__ = ("_exists", "_resolve", "fed", "folders", "home", "root")

    def __init__(
        self,
        *,
        cwd: str,
        home: str,
        root: str,
        resolve: Callable[[str], str] | None,
        exists: Callable[[str], bool] | None,
    ) -> None:
        self.folders = [_clean(cwd)]
        self.fed: list[Word] = []
        """The command whose output the one that is judged reads; empty: none."""
        self.home = _clean(home) if home.startswith("/") else ""
        self.root = _clean(root or cwd)
        self._resolve = resolve
        self._exists = exists

    def content(self, word: Word) -> None:
        """Let a program read a file."""
        for path in self._meanings(word.text):
            if is_secret(path, home=self.home, pattern=False):
                raise Refused(f"{word.text} holds secrets, and no command of an agent reads those.")
        if len(word.pattern) > LONGEST_PATTERN:
            raise Refused("A pattern of file names is too long to be compared; name the files you need.")
        if word.pattern:
            for path in self._from_folders(word.pattern):
                if is_secret(path, home=self.home, pattern=True):
                    raise Refused(f"{word.text} may stand for a file with secrets; name the files you need.")

    def tree(self, text: str) -> None:
        """Let a program read all that is below a folder."""
        for path in self._meanings(text):
            if holds_secrets(path, home=self.home):
                raise Refused(
                    f"{text} holds folders with secrets, and this reads all that is in it;"
                    " search in the repository."
                )

    def folder_before(self, pattern: str) -> str:
        """Name the folder in which a pattern begins."""
        plain = pattern
        for sign in "*?[":
            plain = plain.partition(sign)[0]
        return plain.rpartition("/")[0] or ("/" if plain.startswith("/") else ".")

    def listing(self, word: Word) -> None:
        """Let a program see a file's name, kind and size."""
        for path in self._meanings(word.text):
            if is_secret_folder(path, home=self.home) or path.startswith(("/proc/", "/dev/")):
                raise Refused(f"{word.text} is a folder of secrets, or of the running system.")

    def filtered(self, text: str) -> None:
        """Let a program pick files by a name pattern of its own and read them."""
        if aims_at_secret(text):
            raise Refused(f"{text} picks out files with secrets, and no command of an agent reads those.")

    def inside(self, text: str, *, alone: bool) -> None:
        """Go to another folder of the repository; not `alone`: or stay, because the way may not be there."""
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
        """Tell whether a clean path is in the repository."""
        return any(_is_below(path, root) for root in (self.root, self._real(self.root)))

    def bare_repository(self) -> str:
        """Name a folder, from the root down to where the shell stands, that git may take for a repository.

        A checkout can carry a bare repository as plain files, and git runs what its config names.
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

    def _looks_bare(self, folder: str) -> bool:
        exists = self._exists
        return exists is not None and exists(f"{folder}/HEAD")

    def _meanings(self, text: str) -> Iterator[str]:
        """Give every absolute path that a word may mean, as written and as it resolves."""
        yield from self._from_folders(text)
        for folder in self.folders:
            yield self._real(text if text.startswith("/") else f"{folder}/{text}")

    def _from_folders(self, text: str) -> Iterator[str]:
        for folder in self.folders:
            yield _clean(text if text.startswith("/") else f"{folder}/{text}")

    def _real(self, path: str) -> str:
        if self._resolve is None or path in ("/dev/null", "/dev/stdin", "/dev/zero"):
            return _clean(path)
        return _clean(self._resolve(path))


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
