"""Every answer is there for scripts too."""

from __future__ import annotations

import json

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import Office, office

__all__ = ["office"]

pytestmark = pytest.mark.crash


def test_every_answer_is_there_for_scripts_too(office: Office) -> None:
    said = [
        json.loads(office.asbuilt(*command, "--json").split("--- stdout\n")[1].split("--- stderr")[0])
        for command in (
            ("run", "greet", "--auto", "--script", str(office.script)),
            ("status",),
            ("log", "greet"),
            ("status", "greet"),
            ("report", "greet"),
            ("approve",),
            ("claim", "list"),
            ("stop", "greet"),
            ("worker",),
        )
    ]
    assert [one["schema"] for one in said] == snapshot(
        [
            "asbuilt.run/1",
            "asbuilt.status/1",
            "asbuilt.log/1",
            "asbuilt.status/1",
            "asbuilt.report/1",
            "asbuilt.approvals/1",
            "asbuilt.claims/1",
            "asbuilt.run/1",
            "asbuilt.worker/1",
        ]
    )
    assert said[0] | {"id": "", "at": "", "ended_at": ""} == snapshot(
        {
            "schema": "asbuilt.run/1",
            "run": "greet.1",
            "id": "",
            "plan": "plans/greet.md",
            "state": "landed",
            "at": "",
            "ended_at": "",
            "phases": [
                {
                    "id": "1",
                    "title": "Greet",
                    "state": "landed",
                    "commit": "[HASH]",
                    "attempt": None,
                    "needs": [],
                },
                {"id": "2a", "title": "Part", "state": "ready", "commit": None, "attempt": None, "needs": []},
                {
                    "id": "2b",
                    "title": "Shout",
                    "state": "ready",
                    "commit": None,
                    "attempt": None,
                    "needs": [],
                },
                {
                    "id": "3",
                    "title": "Both",
                    "state": "pending",
                    "commit": None,
                    "attempt": None,
                    "needs": ["2a", "2b"],
                },
            ],
            "waits_for": {"kind": "nobody", "phase": None, "since": None, "until": None, "why": ""},
            "baseline": None,
            "questions": [],
            "failures": [],
            "next": None,
            "cost": {"usd": 0.0, "tokens": 0, "is_whole": True, "basis": "api_price", "cap_usd": 15.0},
            "exit": 0,
        }
    )
