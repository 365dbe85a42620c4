"""Answer an agent's permission question by its role. Pure and total; what is not understood is refused.

The one rule: an answer never depends on what the agent says about itself, only on what it is about to do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Role = Literal["workspace", "read-only"]
    Kind = Literal["read", "edit", "run", "fetch", "other"]


def refusal(role: Role, kind: Kind, path: str, *, workspace: str, held: bool) -> str | None:
    """Say why a call is refused, or None when it may be made.

    `path` is absolute and real; `held` says that the kernel keeps commands to the role.
    """
    match kind:
        case "read" | "fetch":
            return None
        case "run" if role == "workspace" or held:
            return None
        case "run":
            return "This role changes nothing, and on this machine the kernel holds no command to that."
        case "edit" if role == "workspace":
            return _edit_refused(path, workspace.rstrip("/"))
        case "edit":
            return "This role changes nothing."
        case _:
            return "asbuilt does not know this kind of call."


def _edit_refused(path: str, workspace: str) -> str | None:
    if not path.startswith(f"{workspace}/"):
        return f"Only files below {workspace} may be changed."
    if f"{path[len(workspace) :]}/".startswith("/.git/"):
        return "The repository's own files are asbuilt's to change."
    return None
