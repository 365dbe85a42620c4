"""Decide an agent's permission request by its role, from a snapshot of its attempt's start. Pure.

Two layers restrict an agent. This one, the gate, answers a request before the call, with a reason. The other
is the sandbox (`policy.sandbox`): the kernel stops calls that were not requested or not understood.
docs/reference/roles.md shows what each layer stops.

Rule: a decision never depends on what the agent says about itself, only on the call.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from asbuilt.policy.shell.forbidden import forbidden

Role = Literal["implement", "fix", "verify", "test", "plan", "critique"]
Kind = Literal["read", "edit", "run", "fetch", "delegate", "note", "submit", "other"]
Runs = Literal["plain", "held", "never"]

ACTING_FOLDERS = (".claude", ".codex", ".gemini", ".opencode", ".cursor", ".husky", ".githooks")
"""Settings and hooks in a workspace that would act later: at an agent's next start or in the user's git."""
ACTING_FILES = (".mcp.json", "opencode.json", "opencode.jsonc", ".cursorrules")


class Rights(NamedTuple):
    """What a role may do besides reading."""

    runs: Runs
    """How it runs commands; `held`: only where the kernel restricts them."""
    edits: bool = False
    delegates: bool = False
    submits: bool = False


_WRITES: Final = Rights("plain", edits=True, delegates=True)
ROLES: Final[dict[Role, Rights]] = {
    "implement": _WRITES,
    "fix": _WRITES,
    "verify": Rights("held", submits=True),
    "test": Rights("held", submits=True),
    "plan": Rights("held"),
    "critique": Rights("never"),
}


class Snapshot(Struct, frozen=True, kw_only=True):
    """Everything that a decision depends on. Created once per attempt and kept in its folder."""

    role: str
    workspace: str
    home: str = ""
    """The folder that `~` expands to."""
    own: tuple[str, ...] = ()
    """Writable folders besides the workspace: its HOME, its tmp, `out`."""
    protected: tuple[str, ...] = ()
    """Read-only paths in the workspace: the plan."""
    hidden: tuple[str, ...] = ()
    """Paths that no agent may read: secrets, asbuilt's state."""
    held: bool = False
    """Whether the kernel restricts commands to the role."""
    runs: Runs = "never"
    edits: bool = False
    delegates: bool = False
    submits: bool = False


def compiled(role: Role, **about: Any) -> Snapshot:  # noqa: ANN401  the fields of a snapshot
    """Build the snapshot of a role. Paths are absolute and real."""
    return Snapshot(role=role, **about, **ROLES[role]._asdict())


def refusal(
    snapshot: Snapshot, kind: Kind, *, path: str = "", command: str = "", cwd: str = ""
) -> str | None:
    """Return why a call is refused, or None if it is allowed.

    `path` and `cwd` are absolute and real; a command is parsed as far as its text is plain.
    """
    match kind:
        case "note":
            return None
        case "read":
            own = _below(path, (snapshot.workspace, *snapshot.own))
            return None if own or not _below(path, snapshot.hidden) else f"Agents may not read {path}."
        case "edit" if snapshot.edits:
            return _edit_refused(snapshot, path)
        case "edit":
            return "This role changes nothing."
        case "run":
            return _run_refused(snapshot, command, cwd or snapshot.workspace)
        case "fetch":
            return "Agents do not reach the network; what they need is in the workspace."
        case "delegate" if snapshot.delegates:
            return None
        case "submit" if snapshot.submits:
            return None
        case "delegate" | "submit":
            return "This is not for this role."
        case _:
            return "asbuilt does not know this kind of call."


def _run_refused(snapshot: Snapshot, command: str, cwd: str) -> str | None:
    if snapshot.runs == "never":
        return "This role runs nothing."
    if snapshot.runs == "held" and not snapshot.held:
        return "This role is read-only, and no sandbox enforces that on this machine."
    own = (*snapshot.own, "/tmp") if snapshot.held else snapshot.own  # noqa: S108  private to the sandbox

    def written(path: str) -> str | None:
        if _below(path, own) and not _below(path, (snapshot.workspace,)):
            return None
        return _edit_refused(snapshot, path) if snapshot.edits else "This role changes nothing."

    return forbidden(command, cwd=cwd, home=snapshot.home, writes=written)


def _edit_refused(snapshot: Snapshot, path: str) -> str | None:
    workspace = snapshot.workspace
    if not path.startswith(f"{workspace}/"):
        return f"Only files below {workspace} may be changed."
    within = path[len(workspace) + 1 :].split("/")
    if within[0] == ".git":
        return "The repository's own files are asbuilt's to change."
    if not set(within).isdisjoint(ACTING_FOLDERS) or within[-1] in ACTING_FILES:
        return "Only users may change settings and hooks that take effect later."
    if _below(path, snapshot.protected):
        return "It is read-only for agents."
    return None


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
