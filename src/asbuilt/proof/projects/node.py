"""Find the suites of a package.json, and the command that installs their packages.

Scripts run through `npm`, which comes with node. If a script starts another package manager, its runner is
started directly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from asbuilt.proof.projects.index import Index, below, is_within, parent
from asbuilt.proof.projects.known_runners import TABLE, row
from asbuilt.proof.projects.manifests import json_object, table, texts
from asbuilt.proof.projects.model import Suite

_PLACEHOLDER: Final = "no test specified"
_CALLED: Final = re.compile(
    r"\b(?:npm|pnpm|yarn)\s+(?:run\s+)?(?:-s\s+|--silent\s+)?([\w:.-]+)|\b(?:npm-run-all|run-s|run-p)\s+([^&|;]+)"
)
_MANAGERS: Final = re.compile(
    r"(?:^|[;&|(]\s*)(?:pnpm|yarn|bun|lerna|nx|turbo|rush|wireit|corepack|docker|make)\b"
)
_ROWS: Final = tuple(row for row in TABLE if row.family == "node" and row.name != "npm")
_LOCKED: Final = "HUSKY=0 npm ci --no-audit --no-fund"
_UNLOCKED: Final = "HUSKY=0 npm install --no-audit --no-fund --no-package-lock"


def script_of(index: Index, folder: str) -> str:
    """Return the test script of a package.json; "" if it has none or npm's placeholder."""
    script = table(json_object(index.text(folder, "package.json")), "scripts").get("test")
    return script if isinstance(script, str) and _PLACEHOLDER not in script else ""


def candidates(index: Index, folder: str) -> Iterator[tuple[str, Suite]]:
    """Yield the possible suites of a package.json, each with the file that shows it, best first."""
    if not index.here(folder, "package.json"):
        return
    setup = node_setup(index, folder)
    script = _expanded(index, folder)
    runner, sign = _runner(index, folder, script)
    at = below(folder, "package.json")
    direct = Suite(folder, row(runner).command, runner, setup=setup) if runner else None
    if script.strip():
        own = Suite(folder, "npm test", runner or "npm", row(runner or "npm").counts, setup)
        starts_other = _MANAGERS.search(script_of(index, folder)) is not None
        first, second = (direct, own) if direct and starts_other else (own, direct)
        yield at, first
        if second is not None:
            yield at, second
    elif direct is not None:
        yield below(folder, sign), direct
    elif tests := index.tests_below(folder, "node"):
        yield tests[0], Suite(folder, row("node:test").command, "node:test", setup=setup)


def _runner(index: Index, folder: str, script: str) -> tuple[str, str]:
    """Return the runner that a script starts, or whose settings or package exist, and the file with them."""
    for part in ("script", "text"):
        for known_runner in _ROWS:
            for mark in known_runner.marks:
                if mark.part == part == "script" and re.search(mark.pattern, script):
                    return known_runner.name, mark.name
                if mark.part == part == "text" and index.here(folder, mark.name):
                    return known_runner.name, index.here(folder, mark.name)[0]
    manifest = json_object(index.text(folder, "package.json"))
    packages = {**table(manifest, "devDependencies"), **table(manifest, "dependencies")}
    if not index.tests_below(folder, "node"):
        return "", ""
    return next(
        ((known_runner.name, "package.json") for known_runner in _ROWS if known_runner.name in packages),
        ("", ""),
    )


def _expanded(index: Index, folder: str) -> str:
    scripts = table(json_object(index.text(folder, "package.json")), "scripts")
    found = [script_of(index, folder)]
    seen = {"test"}
    for text in found:
        for called in _CALLED.findall(text):
            for name in " ".join(called).split():
                inner = scripts.get(name)
                if name not in seen and isinstance(inner, str):
                    seen.add(name)
                    found.append(inner)
        if "/^test" in text:
            found += [
                inner
                for name, inner in scripts.items()
                if name.startswith("test:") and isinstance(inner, str) and name not in seen
            ]
            seen |= {*scripts}
    return "\n".join(found)


def members(index: Index, folder: str) -> list[str]:
    """List the folders of the packages that a package.json declares as its workspaces."""
    manifest = json_object(index.text(folder, "package.json"))
    declared = manifest.get("workspaces")
    patterns = texts(declared.get("packages") if isinstance(declared, dict) else declared)
    patterns += re.findall(
        r"""(?m)^\s*-\s*["']?([^"'#\n]+?)["']?\s*$""", _packages(index.text(folder, "pnpm-workspace.yaml"))
    )
    patterns += texts(json_object(index.text(folder, "lerna.json")).get("packages"))
    found = []
    for inner in index.folders:
        if inner != folder and is_within(inner, folder) and index.here(inner, "package.json"):
            path = inner[len(folder) + 1 :] if folder else inner
            fits = [pattern for pattern in patterns if _fits(path, pattern)]
            if fits and not any(pattern.startswith("!") for pattern in fits):
                found.append(inner)
    return found


def _packages(text: str) -> str:
    """Return the list below `packages:` of a pnpm-workspace.yaml."""
    found = re.search(r"(?m)^packages:[^\n]*\n((?:[ \t]*(?:-|#)[^\n]*\n?|\s*\n)*)", text)
    return found[1] if found else ""


def _fits(path: str, pattern: str) -> bool:
    pattern = pattern.removeprefix("!").removeprefix("./").rstrip("/")
    if "**" in pattern:
        flat = pattern.replace("/**", "/*").replace("**", "*")
        return fnmatchcase(path, flat) or fnmatchcase(f"{path}/", pattern)
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def node_setup(index: Index, folder: str) -> str:
    """Return the command that installs packages, from the lock file of a folder or of its workspace."""
    above = folder
    while True:
        command = _install(index, above)
        if command is not None and (above == folder or folder in members(index, above)):
            ups = folder[len(above) :].strip("/").count("/") + 1 if above != folder else 0
            return f"cd {'/'.join(['..'] * ups)} && {command}" if ups else command
        if not above:
            return _UNLOCKED
        above = parent(above)


def _install(index: Index, folder: str) -> str | None:
    """Return the command that installs from a folder's lock file or workspaces; None if it has neither."""
    manifest = json_object(index.text(folder, "package.json"))
    named = str(manifest.get("packageManager", "")).partition("+")[0]
    version = re.fullmatch(r"(pnpm|yarn)@([\w.-]+)", named)
    if index.here(folder, "pnpm-lock.yaml") and not (index.here(folder, "package-lock.json") and not version):
        lock = re.search(r"lockfileVersion: '?(\d+)", index.text(folder, "pnpm-lock.yaml"))
        usual = {"5": "7", "6": "8"}.get(lock[1], "9") if lock else "9"
        install = f"HUSKY=0 npx --yes pnpm@{version[2] if version else usual} install --frozen-lockfile"
        # pnpm 11 does not start on a Node.js that the project itself may still support.
        is_new = re.match(r"1[1-9]\.", version[2]) if version else None
        return f"{install} || HUSKY=0 npx --yes pnpm@10 install --frozen-lockfile" if is_new else install
    if index.here(folder, "package-lock.json", "npm-shrinkwrap.json"):
        return _LOCKED
    if index.here(folder, "yarn.lock"):
        is_old = version is None or version[2][:2] in ("1.", "0.")
        if is_old and not index.here(folder, ".yarnrc.yml"):
            return "HUSKY=0 npx --yes yarn@1 install --frozen-lockfile --non-interactive"
        releases = index.releases(folder)
        program = f"npx --yes @yarnpkg/cli-dist@{version[2] if version else '4'}"
        if releases:
            program = f"node {releases[-1][len(folder) :].lstrip('/')}"
        return f"HUSKY=0 YARN_NODE_LINKER=node-modules {program} install --immutable"
    return _UNLOCKED if members(index, folder) else None
