"""Files that an output names, and whether they exist."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from asbuilt.lifecycle.authoring.validators.prose import Passage, sentences
from asbuilt.lifecycle.authoring.validators.text_comparison import is_repeated, meaningful, stems
from asbuilt.lifecycle.flaws import Flaw

_KINDS: Final = (
    "py|pyi|js|jsx|ts|tsx|mjs|cjs|vue|svelte|go|rs|java|kt|kts|scala|rb|php|c|h|cc|cpp|hpp|cs|swift|m|mm|sh|bash|ps1"
    "|sql|html|css|scss|less|md|rst|txt|json|toml|ya?ml|xml|ini|cfg|conf|lock|proto|graphql|tf|gradle|ex|exs|erl|hs"
    "|lua|pl|r|jl|dart|ipynb|env|properties|mk"
)
_PATH: Final = re.compile(
    rf"(?<![\w@:/.*-])((?:\.{{0,2}}/)?[\w@.+-]+(?:/[\w@.+-]+)+\.(?:{_KINDS}))(?![\w*/])"
)
_NAME: Final = re.compile(r"(?<![\w/.@-])([\w][\w.+-]*)(?![\w/])")
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://\S+", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"(?<=[,;])\s+|(?<=[.!?])\s+|\n")
_MADE: Final = re.compile(
    r"(?:\b(?:new|creat\w+|add\w*|introduc\w+|writ\w+|generat\w+|neue[rsnm]?|créer|ajouter|crear|añadir|criar)\s+"
    r"(?:(?:a|an|the|new|file|module|tests?|script|page|datei|fichier|archivo)\s+)*"
    r"|\b(?:mov|extract|split|renam)\w*\b.*\b(?:to|into|as)\s+"
    r"|\b(?:no|without|kein\w*|sans|sin)\s+(?:file\s+|module\s+)?)[`\"'(]*$",
    re.IGNORECASE,
)
_ABSENT: Final = re.compile(
    r"[`\"')\]\s:,*–—-]*[(\[]?\s*(?:(?:new|create[sd]?|creating|introduced?|neu|nouveau|nouvelle|nuevo|nueva|novo)\b"
    r"|(?:is|are|was|will be|would be)?\s*(?:not there|missing|absent|added|gone|to be)\b"
    r"|(?:does|do|did)(?:\s+not|n't)\s+(?:yet\s+)?exist|fehlt|existiert nicht|anlegen|erstellen|ergänzen"
    r"|n'existe pas|manque|no existe|falta|新規|新建|새|を?(?:作成|追加)|를? ?(?:추가|생성))",
    re.IGNORECASE,
)
_NEW: Final = r"(?:new|creat(?:e|es|ed|ing)|added|neue?n?|nouve(?:au|lle)s?|nuev[oa]s?|novos?)"
_NEW_ROW: Final = re.compile(rf"\b{_NEW}\b|新規|新建|새", re.IGNORECASE)
_NEW_FILES: Final = re.compile(
    rf"\W*{_NEW}\W*|.*\b{_NEW}\b.*\b(?:files?|modules?|dateien|fichiers|archivos)\b.*|.*\bfiles?\b.*\b{_NEW}\b.*",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"\W*([^:`\n]{1,40}):")
_EMPTY: Final = stems(
    ("relevant", "important", "related", "file", "module", "code", "change", "task", "look")
)
_SHOWN: Final = 5
_NEAR: Final = 120
"""Number of characters before a path in which words such as "create" are searched."""


class Tree:
    """The files of a repository, found by path or by the end of a path."""

    def __init__(self, files: Collection[str]) -> None:
        self.files = frozenset(files)
        self.by_name: dict[str, list[str]] = {}
        for path in sorted(self.files):
            self.by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def find(self, path: str) -> str | None:
        """Find a file by its path as written: from the root, from a subfolder, or absolute."""
        plain = path.removeprefix("./")
        if plain in self.files:
            return plain
        known = self.by_name.get(plain.rsplit("/", 1)[-1], [])
        if path.startswith("/"):
            return next((file for file in known if path.endswith(f"/{file}")), None)
        return next((file for file in known if file.endswith(f"/{plain}")), None)


class References(NamedTuple):
    """Files that an output names: existing files, and missing files that are not marked as new."""

    there: tuple[str, ...]
    phantom: tuple[str, ...]


def references_in(passages: Iterable[Passage], tree: Tree) -> References:
    """Find every named file in the tree. URLs, glob patterns and arguments of commands are ignored."""
    there: dict[str, None] = {}
    missing: dict[str, bool] = {}
    announced = False
    for passage in passages:
        text = _ADDRESS.sub(" ", passage.named)
        label = _LABEL.match(text)
        if passage.kind == "heading" or text.rstrip(" *_").endswith(":"):
            announced = bool(_NEW_FILES.fullmatch(text))
        is_new = bool(label and _NEW_FILES.fullmatch(label[1])) or (
            announced and passage.kind in ("item", "row")
        )
        for clause in [text] if passage.kind == "row" else _CLAUSE.split(text):
            for found in _PATH.finditer(clause):
                # An absolute path may be outside the repository, so it is not checked.
                if tree.find(found[1]) is None and not found[1].startswith("/"):
                    comes = is_new or _is_to_come(clause, found, is_row=passage.kind == "row")
                    missing[found[1]] = missing.get(found[1], False) or comes
            there.update(dict.fromkeys(_named(clause, tree)))
    return References(tuple(there), tuple(path for path, comes in missing.items() if not comes))


def _is_to_come(clause: str, path: re.Match[str], *, is_row: bool) -> bool:
    before = clause[max(0, path.start() - _NEAR) : path.start()]
    announced = _MADE.search(before) or _ABSENT.match(clause, path.end())
    return bool(announced or (is_row and _NEW_ROW.search(clause)))


def files_described(passages: Iterable[Passage], tree: Tree, *, enough: int) -> frozenset[str]:
    """Return files that the text describes, at most until `enough`; a repeated description counts once."""
    files: set[str] = set()
    remarks: list[frozenset[str]] = []
    headed: frozenset[str] = frozenset()
    for passage in passages:
        if len(files) >= enough:
            break
        text = _ADDRESS.sub(" ", passage.text)
        if passage.kind == "heading":
            headed = frozenset(_named(text, tree))
        for part in [text] if passage.kind == "row" else sentences(text):
            named = frozenset(_named(part, tree))
            names = (*_PATH.findall(part), *(path.rsplit("/", 1)[-1] for path in named))
            written = {word for name in names for word in meaningful(name)}
            remark = frozenset(meaningful(part)) - written - _EMPTY
            if len(remark) >= 2 and (named or headed) and not is_repeated(remark, remarks):
                files |= named | headed
                remarks.append(remark)
    return frozenset(files)


def phantoms(references: References) -> tuple[Flaw, ...]:
    """Refuse missing files that are named as if they existed."""
    if not references.phantom:
        return ()
    shown = ", ".join(references.phantom[:_SHOWN])
    more = f" and {len(references.phantom) - _SHOWN} more" if len(references.phantom) > _SHOWN else ""
    needed = "only files that exist, or the word new beside one that the work makes"
    return (Flaw("phantom files", shown + more, needed, f"`{references.phantom[0]}` (new)"),)


def _named(text: str, tree: Tree) -> Iterator[str]:
    for written in (*_PATH.findall(text), *(name.rstrip(".") for name in _NAME.findall(text))):
        found = tree.find(written) if "/" in written or written in tree.by_name else None
        if found is not None:
            yield found
