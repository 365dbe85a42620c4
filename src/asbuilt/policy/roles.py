"""Decide an agent's permission request by its role, from a snapshot of its attempt's start. Pure.

Two layers restrict an agent. This one, the gate, answers a request before the call, with a reason. The other
is the sandbox (`policy.sandbox`): the kernel stops calls that were not requested or not understood.
docs/roles.md shows what each layer stops.

Rule: a decision never depends on what the agent says about itself, only on the call.
"""

from __future__ import annotations

from asbuilt.policy.shell.forbidden import forbidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Role = Literal["implementer", "fixer", "tester", "verifier", "explorer", "planner", "critic"]
    Kind = Literal["read", "edit", "run", "fetch", "delegate", "note", "submit", "other"]
    Runs = Literal["plain", "held", "never"]
    Strings = tuple[str, ...]

ACTING_FOLDERS = (".claude", ".codex", ".gemini", ".opencode", ".cursor", ".husky", ".githooks")
"""Settings and hooks in a workspace that would act later: at an agent's next start or in the user's git."""
ACTING_FILES = (".mcp.json", "opencode.json", "opencode.jsonc", ".cursorrules")

_WRITES: tuple[Runs, bool, bool, bool] = ("plain", True, True, False)
_READS: tuple[Runs, bool, bool, bool] = ("held", False, False, False)
# Per role: how it runs commands, whether it changes files, starts helpers, submits a verdict.
ROLES: dict[Role, tuple[Runs, bool, bool, bool]] = {
    "implementer": _WRITES,
    "fixer": _WRITES,
    "tester": _WRITES,
    "verifier": ("held", False, False, True),
    "explorer": _READS,
    "planner": _READS,
    "critic": ("never", False, False, False),
}


class Snapshot:
    """Everything that a decision depends on. Created once per attempt and kept in its folder."""

    __slots__ = (
        "delegates",
        "edits",
        "held",
        "hidden",
        "home",
        "own",
        "protected",
        "role",
        "runs",
        "submits",
        "workspace",
    )

    def __init__(  # noqa: PLR0913  a value with eleven fields, on a path where dataclasses are too dear
        self,
        *,
        role: str,
        workspace: str,
        home: str = "",
        own: Strings = (),
        protected: Strings = (),
        hidden: Strings = (),
        held: bool = False,
        runs: Runs = "never",
        edits: bool = False,
        delegates: bool = False,
        submits: bool = False,
    ) -> None:
        self.role = role
        self.workspace = workspace
        self.home = home
        """The folder that `~` expands to."""
        self.own = own
        """Writable folders besides the workspace: its HOME, its tmp, `out`."""
        self.protected = protected
        """Read-only paths in the workspace: the plan."""
        self.hidden = hidden
        """Paths that no agent may read: secrets, asbuilt's state."""
        self.held = held
        """Whether the kernel restricts commands to the role."""
        self.runs = runs
        self.edits = edits
        self.delegates = delegates
        self.submits = submits

    def fields(self) -> dict[str, object]:
        """Return all fields, for its file and for tests."""
        return {name: getattr(self, name) for name in self.__slots__}


def compiled(  # noqa: PLR0913  each of these is a different fact
    role: Role,
    *,
    workspace: str,
    home: str = "",
    own: Strings = (),
    protected: Strings = (),
    hidden: Strings = (),
    held: bool = False,
) -> Snapshot:
    """Build the snapshot of a role. Paths are absolute and real."""
    runs, edits, delegates, submits = ROLES[role]
    return Snapshot(
        role=role, workspace=workspace.rstrip("/"), home=home, own=own, protected=protected, hidden=hidden,
        held=held, runs=runs, edits=edits, delegates=delegates, submits=submits,
    )  # fmt: skip


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
            return _read_refused(snapshot, path)
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


def _read_refused(snapshot: Snapshot, path: str) -> str | None:
    if _below(path, (snapshot.workspace, *snapshot.own)) or not _below(path, snapshot.hidden):
        return None
    return f"{path} is nobody's to read."


def _run_refused(snapshot: Snapshot, command: str, cwd: str) -> str | None:
    if snapshot.runs == "never":
        return "This role runs nothing."
    if snapshot.runs == "held" and not snapshot.held:
        return "This role changes nothing, and on this machine the kernel holds no command to that."
    own = (*snapshot.own, "/tmp") if snapshot.held else snapshot.own  # noqa: S108  its private one, in the ring

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
        return "Settings and hooks that would act later are a person's to change."
    if _below(path, snapshot.protected):
        return "It is read-only for agents."
    return None


def _below(path: str, folders: Strings) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
