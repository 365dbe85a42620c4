"""Put the models where the shipped flows look for git, check environments, files and the clock.

The one rule: only what is outside of the process is replaced, and what is pure is only remembered.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, contextmanager, nullcontext
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from asbuilt.flows.engine import lease, worker
from asbuilt.flows.engine.fence import Signals
from asbuilt.flows.environments import check_environment
from asbuilt.flows.run import environment
from asbuilt.git import commits, files, locks, objects, refs, repository, temporary_git_folder, trees
from asbuilt.git.landing import candidates, checkout_update, land
from asbuilt.git.workspace import snapshots, unsandboxed_reach, workspaces
from asbuilt.journal import events, ids
from asbuilt.library import atomic_files
from asbuilt.plan import reader
from asbuilt.policy.shell import judge
from tests.simulator import bench, model_git, model_spaces
from tests.simulator.durable import Looks, Thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

World = SimpleNamespace
"""What the links lead to: `model`, `people`, `spliced`, set anew for each seed."""


@contextmanager
def linked() -> Iterator[World]:
    """Link the flows of this process to a world that the caller fills."""
    world = World()
    replacements = _replacements(world)
    clock = SimpleNamespace(
        monotonic=lambda: world.model.stage.now,
        clock_gettime=lambda _clock: world.model.stage.now,
        sleep=lambda seconds: world.model.stage.sleep(seconds, polls=False),
    )

    def waits(_signals: Signals, seconds: float) -> None:
        world.model.stage.sleep(seconds, polls=True)

    with ExitStack() as stack:
        modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("asbuilt.")]
        for module in modules:
            for name, value in [*vars(module).items()]:
                if callable(value) and id(value) in replacements:
                    stack.enter_context(patch.object(module, name, replacements[id(value)][1]))
        for module in (land, lease, worker):
            stack.enter_context(patch.object(module, "time", clock))
        threads = SimpleNamespace(
            Event=lambda: Looks(world.model.stage), Thread=partial(Thread, lambda: world.model.stage)
        )
        stack.enter_context(patch.object(worker, "threading", threads))
        stack.enter_context(patch.object(Signals, "wait", waits))
        # A look in the simulator costs what many do in a day of a worker.
        for name, value in (
            ("_ASK_S", 2 * worker.LOOK_S),
            ("_END_S", worker.LOOK_S),
            ("_QUIET_S", worker.LOOK_S),
            ("LOOK_SHARED_S", worker.LOOK_S),
        ):
            stack.enter_context(patch.object(worker, name, value))
        remembering = SimpleNamespace(dumps=json.dumps, loads=lru_cache(8_192)(json.loads))
        stack.enter_context(patch.object(events, "json", remembering))
        yield world


def _replacements(world: World) -> dict[int, tuple[object, Callable[..., Any]]]:
    """Give for each function of the outside what takes its place; the function itself is kept alive."""
    real_replace = atomic_files.replace

    def splice(file: Path, data: bytes, *, expected: str) -> object:
        done = real_replace(file, data, expected=expected)
        world.spliced(file, data)
        return done

    pairs: list[tuple[object, Callable[..., Any]]] = [
        (repository.open_repository, lambda _start, **_agreed: world.model),
        (repository.tip, model_git.tip),
        (repository.checkouts, model_git.checkouts),
        (repository.checkouts_of, model_git.checkouts_of),
        (repository.operations, lambda _git_dir: ()),
        (repository.conflicts, lambda _checkout: ()),
        (repository.leftover_stashes, lambda _repository: ()),
        (repository.path_state, lambda _checkout, path: model_git.state_of(world.model, path)),
        (commits.author_of, lambda _repository: model_git.PERSON),
        (commits.signs, lambda _repository: False),
        (commits.rewrite, model_git.rewrite),
        (commits.read_commit, model_git.read_commit),
        (commits.contains, model_git.contains),
        (commits.outcomes, model_git.outcomes),
        (locks.set_ref, model_git.set_ref),
        (locks.drop_ref, model_git.drop_ref),
        (locks.guarded, lambda folder, *, patience_s=60.0: world.model.hold(folder, patience_s)),
        (locks.recorded, lambda *_: nullcontext()),
        (locks.need_writable, lambda _repository: None),
        (temporary_git_folder.quiet, model_git.quiet),
        (candidates._merged, model_git.merged),
        (candidates.merge_trees, model_git.merge_trees),
        (candidates.add_files, model_git.add_files),
        (land._look, model_git.look),
        (land._push, model_git.push),
        (land._settle_all, model_git.settle),
        (checkout_update.settle, model_git.settle),
        (checkout_update.is_locked, lambda _checkout: False),
        (checkout_update.write_hook, lambda _folder: None),
        (snapshots.keep, model_spaces.keep),
        (snapshots.is_at, model_spaces.is_at),
        (workspaces.head_of, model_spaces.head_of),
        (workspaces.refuse_unreachable, lambda _repository, _workspace: None),
        (refs.holding, model_git.holding),
        (refs.listed, model_git.listed),
        (objects.tree_of, model_git.tree_at),
        (workspaces.make, model_spaces.make),
        (workspaces.leftovers, model_spaces.leftovers),
        (workspaces.reset_to, model_spaces.reset_to),
        (workspaces.put_back, model_spaces.put_back),
        (workspaces.remove, model_spaces.remove),
        (workspaces.lend, lambda workspace, attempt: model_spaces.lend(world.model, workspace, attempt)),
        (workspaces.lent_to, lambda workspace: model_spaces.lent_to(world.model, workspace)),
        (trees.lines_of, model_git.lines_of),
        (refs.base_of, model_git.base_of),
        (refs.touched, model_git.touched),
        (files.entries, model_git.entries),
        (trees.names_in, model_git.names_in),
        (trees.text_of, model_git.text_of),
        (trees.texts_of, model_git.texts_of),
        (trees.differing, model_git.differing),
        (trees.file_in, model_git.file_in),
        (unsandboxed_reach.reach, lambda _repository, _workspace, _run: {}),
        (unsandboxed_reach.under_way, lambda _repository: {}),
        (workspaces.written_in, lambda _repository, _workspace, _tree: []),
        (check_environment.CheckEnvironments, bench.Bench),
        (environment.keep, lambda *_, **__: None),
        (environment.kept, lambda _room: {}),
        (environment.kept_for, lambda _room, _kind: {}),
        (ids.new_id, lambda: world.people.next_id),
        (atomic_files.replace, splice),
        (reader.read, lru_cache(4_096)(reader.read)),
        (judge.argv_of, lru_cache(256)(judge.argv_of)),
    ]
    return {id(function): (function, stands) for function, stands in pairs}
