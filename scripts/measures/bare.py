"""The engine alone: what asbuilt's own dispatch, journal and decisions are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbos import DBOS, DBOSPortableJSONSerializer, SetWorkflowID

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dbos import DBOSConfig, WorkflowHandle


class Bare:
    """DBOS with one workflow, which is started directly: no queue, no delay."""

    def __init__(self, where: str, home: Path, *, worker: str) -> None:
        is_shared = where.startswith("postgresql:")
        url = (
            where.replace("postgresql:", "postgresql+psycopg:") if is_shared else f"sqlite:///{home}/bare.db"
        )
        self._config: DBOSConfig = {
            "name": "bare",
            "application_version": worker,
            "executor_id": worker,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "ERROR",
            "sys_db_pool_size": 2,
            "scheduler_polling_interval_sec": 3600.0,
            "system_database_url": url,
        }
        self._segment: Callable[[str, str, str, int], None]

    def launch(
        self, segment: Callable[[str, str, str, int], None], *, ended: Callable[[], object] = lambda: None
    ) -> None:
        """Start serving; `ended` follows each segment."""
        DBOS(config=self._config)

        def go_through(org: str, repo: str, run: str, n: int) -> None:
            try:
                segment(org, repo, run, n)
            finally:
                ended()

        self._segment = DBOS.workflow(name="segment")(go_through)
        DBOS.listen_queues([])
        DBOS.launch()

    def begin(self, workflow: str, arguments: tuple[str, str, str, int]) -> WorkflowHandle[None]:
        """Start a segment in a thread of its own."""
        with SetWorkflowID(workflow):
            return DBOS.start_workflow(self._segment, *arguments)

    def close(self) -> None:
        """Stop serving."""
        DBOS.destroy(destroy_registry=True)
