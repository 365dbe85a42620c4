"""Show an agent the results of setup, so that it can run the tests.

The workspace becomes an overlay of its files and the setup's, at its own path and at the path of checks:
installed programs contain the latter path. Rule: what the agent writes stays in its workspace and its
attempt's folder; the setup's results never change.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import TYPE_CHECKING

from asbuilt.agents.sandbox.launch import can_overlay
from asbuilt.policy.sandbox.check_environment import PLACED, for_results
from asbuilt.policy.sandbox.rules import Overlay, Placed, Request

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.ports import Brief


def hold(results: Path | None) -> int | None:
    """Lock results against deletion as long as the descriptor is open; None where there are none."""
    if results is None or not results.is_dir():
        return None
    descriptor = os.open(results, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def with_results(request: Request, brief: Brief, own: Path) -> Request:
    """Add the setup's results to the request; `own` is a folder of the attempt.

    A no-op without overlays: a copy in the workspace could not be told from the agent's own work.
    """
    results, workspace = brief.results, brief.workspace
    if results is None or not results.is_dir() or not can_overlay(own):
        return request
    if workspace.stat().st_dev != own.stat().st_dev:
        return request
    above = () if brief.writable else (workspace,)
    views = {
        str(workspace): _view(own, "checkout", *above, results / "checkout", upper=workspace),
        PLACED.home: _view(own, "home", results / "home", upper=own / "upper-home"),
        PLACED.cache: _view(own, "cache", results / "cache", upper=own / "upper-cache"),
    }
    if not brief.writable:
        views[str(workspace)] = views[str(workspace)]._replace(upper="", work="")
    placed = [Placed(view.point, at) for at, view in views.items()]
    # The second path of the workspace needs the same protection as the first.
    for path in (str(workspace), *(held for held in request.read_only if held.startswith(f"{workspace}/"))):
        at = PLACED.checkout + path.removeprefix(str(workspace))
        is_view = path == str(workspace)
        folder = views[path].point if is_view else path
        placed.append(Placed(folder, at, writable=is_view and brief.writable))
    leading = for_results(
        PLACED, request.environment.get("PATH", ""), has_venv=(results / "home" / "venv").is_dir()
    )
    return request.changed(
        placed=(*request.placed, *placed),
        overlays=tuple(views.values()),
        environment={**request.environment, **leading},
    )


def _view(own: Path, name: str, *lower: Path, upper: Path) -> Overlay:
    point, work = own / f"point-{name}", own / f"work-{name}"
    shutil.rmtree(work, ignore_errors=True)
    for folder in (point, work, upper):
        folder.mkdir(mode=0o700, exist_ok=True)
    return Overlay(lower=tuple(map(str, lower)), upper=str(upper), work=str(work), point=str(point))
