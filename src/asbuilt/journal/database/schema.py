"""The journal's tables: migrations in `schema.sql`, numbered from 1."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple


class Step(NamedTuple):
    """A forward migration, with the same SQL for both databases except for the words in `_WORDS`."""

    number: int
    sql: tuple[str, ...]

    def statements(self, dialect: str) -> list[str]:
        """Return the migration's SQL for `sqlite` or `postgres`."""
        words = _WORDS[dialect]
        return [statement.format_map(words) for statement in self.sql]


_WORDS: Final = {
    # A feed must follow commit order, not ids: an id may become visible after a larger id. SQLite has one
    # writer.
    "sqlite": {
        "feed_column": "feed integer PRIMARY KEY AUTOINCREMENT",
        "events_key": "UNIQUE",
        "bytes": "blob",
        "now": "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
    },
    "postgres": {
        "feed_column": "feed bigserial, tx xid8 NOT NULL DEFAULT pg_current_xact_id()",
        "events_key": "PRIMARY KEY",
        "bytes": "bytea",
        "now": "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')",
    },
}


def _read(text: str) -> tuple[Step, ...]:
    _, *parts = re.split(r"(?m)^-- migration (\d+): .*\n", text)
    return tuple(
        Step(
            int(number),
            tuple(part.strip() for part in re.sub(r"(?m)^--.*\n", "", sql).split(";\n") if part.strip()),
        )
        for number, sql in zip(parts[::2], parts[1::2], strict=True)
    )


STEPS: Final = _read(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
