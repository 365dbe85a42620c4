"""A conversation of a user with the real `claude`: a repository, a HOME, its hooks on record.

Headless it is spoken to over stream-json, as a host would, which answers its questions and changes its mode;
`tests.live.terminal` has the same one in a terminal, where a person types.
The one rule: nothing of ours is in it but what a test has put into its settings.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

from tests.live.stage import git
from tests.live.starting import KEY, lodged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tests.model import Model

SCRIPT: Final = "talk"
WAIT_S: Final = 120.0
EVENTS: Final = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PermissionRequest",
    "PermissionDenied",
)
_RECORDER: Final = """\
import json, os, sys, time
payload = json.loads(sys.stdin.read())
payload["CLAUDE_PID"] = os.environ.get("CLAUDE_PID")
if payload["hook_event_name"] == "PreToolUse":
    time.sleep(0.2)
    with open(payload["transcript_path"]) as file:
        payload["TRANSCRIPT"] = "".join(line for line in file if "plan_mode" in line)
with open({record!r}, "a") as file:
    file.write(json.dumps(payload) + "\\n")
answer = {answers!r}.get(payload["hook_event_name"] + ":" + payload.get("tool_name", ""))
if answer is not None:
    print(json.dumps({{"hookSpecificOutput": {{"hookEventName": payload["hook_event_name"], **answer}}}}))
"""

Allow: Final[Mapping[str, Any]] = {"behavior": "allow"}
Deny: Final[Mapping[str, Any]] = {"behavior": "deny", "message": "the person says no"}


@dataclass
class Place:
    """Where a conversation happens: a repository and a HOME below one folder, and a scripted model."""

    room: Path
    model: Model
    record: Path = field(init=False)
    shop: Path = field(init=False)

    def __post_init__(self) -> None:
        self.shop, self.record = self.room / "shop", self.room / "hooks.jsonl"
        self.shop.mkdir()
        (self.shop / "app.py").write_text("print('shop')\n")
        (self.shop / "book.ipynb").write_text(_NOTEBOOK)
        git(self.shop, "init", "--quiet", "--initial-branch=main")
        git(self.shop, "add", ".")
        git(self.shop, "commit", "--quiet", "--message=start")
        self.lodging = lodged("claude", self.room / "home", self.model.url(SCRIPT))
        self.home = self.lodging.home
        known = {
            "hasCompletedOnboarding": True,
            "hasSeenAutoDefaultNudge": True,
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {str(self.shop): {"hasTrustDialogAccepted": True}},
        }
        (self.home / ".claude.json").write_text(json.dumps(known))

    def settle(self, settings: Mapping[str, Any]) -> None:
        """Write the user's settings."""
        (self.home / ".claude" / "settings.json").write_text(json.dumps(settings))

    def recording(self, answers: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Give hooks that write every payload down, and answer `Event:Tool` where they are told to."""
        script = self.room / "record.py"
        script.write_text(_RECORDER.format(record=str(self.record), answers=dict(answers or {})))
        hook = {"type": "command", "command": f"{sys.executable} -I -S {script}"}
        return {event: [{"hooks": [hook]}] for event in EVENTS}

    def payloads(self) -> list[dict[str, Any]]:
        """List what the hooks were given so far."""
        if not self.record.exists():
            return []
        return [json.loads(line) for line in self.record.read_text().splitlines()]


class Talk:
    """A conversation without a terminal. What it asks is answered by `answer`; nobody there: None."""

    def __init__(
        self,
        place: Place,
        *arguments: str,
        answer: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] | None = None,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> None:
        self.place, self._answer = place, answer
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._requests = 0
        self.said: list[dict[str, Any]] = []
        asks = ("--permission-prompt-tool", "stdio") if answer else ()
        form = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        tmp = place.room / "tmp"
        tmp.mkdir(exist_ok=True)
        own = {"HOME": str(place.home), "TMPDIR": str(tmp), "CLAUDE_CODE_TMPDIR": str(tmp)}
        with (place.room / "stderr").open("ab") as stderr:
            self._process = subprocess.Popen(
                [*before, str(place.lodging.program), "-p", *form, *asks, *arguments],
                cwd=place.shop,
                env={**place.lodging.environment, **own, **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.control("initialize")

    @property
    def pid(self) -> int:
        """The process that is the conversation."""
        return self._process.pid

    def say(self, text: str) -> dict[str, Any]:
        """Say something, and give what came of it once the turn is over."""
        self._send({"type": "user", "message": {"role": "user", "content": text}})
        return self._until(lambda line: line.get("type") == "result")

    def control(self, subtype: str, **fields: object) -> dict[str, Any]:
        """Have it do something that a host may ask for, as set_permission_mode."""
        name = self.begin(subtype, **fields)
        return self._until(
            lambda line: line.get("type") == "control_response" and line["response"].get("request_id") == name
        )

    def begin(self, subtype: str, **fields: object) -> str:
        """Ask for the same in the middle of a turn, without waiting."""
        self._requests += 1
        name = f"ours{self._requests}"
        request = {"subtype": subtype, **fields}
        self._send({"type": "control_request", "request_id": name, "request": request})
        return name

    def close(self) -> int:
        """End it as a user does."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            return self._process.wait(WAIT_S)
        finally:
            self._process.kill()
            self._reader.join(WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while (line := self._lines.get(timeout=WAIT_S)) is not None:
            self.said.append(line)
            if line.get("type") == "control_request":
                self._reply(line)
            if is_it(line):
                return line
        raise AssertionError(f"it has gone: {(self.place.room / 'stderr').read_text()}")

    def _reply(self, line: dict[str, Any]) -> None:
        asked = line["request"]
        assert self._answer is not None
        assert asked["subtype"] == "can_use_tool", asked
        given = dict(self._answer(asked["tool_name"], asked["input"]))
        if given["behavior"] == "allow":
            given.setdefault("updatedInput", asked["input"])
        response = {"subtype": "success", "request_id": line["request_id"], "response": given}
        self._send({"type": "control_response", "response": response})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(json.loads(line))
        self._lines.put(None)


_NOTEBOOK: Final = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": "one",
                "metadata": {},
                "outputs": [],
                "source": ["1"],
            }
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
