"""A collector on loopback gets every run that ends as a trace; without an endpoint nothing is sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.journeys.test_commands import Office, office, until

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["office"]
pytestmark = pytest.mark.crash
SCRIPT = """\
[[turn]]
phase = "1"
role = "implement"
acts = [
  { usage = 100, output = 10, cost_usd = 0.25 },
  { write = "greet.py", text = "print('hello')\\n" }, { say = "done" },
]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""


class Collector(ThreadingHTTPServer):
    """As much of a collector as an exporter sees: it takes traces over HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[str, dict[str, str], Any]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.got.append((self.path, headers, body))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        del format, args


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.shutdown()
    made.server_close()


def _about(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def test_a_run_is_a_trace_with_a_span_for_each_phase_and_each_start_of_an_agent(
    office: Office, collector: Collector
) -> None:
    office.script.write_text(SCRIPT, encoding="utf-8")
    office.environ |= {
        "ASBUILT_TELEMETRY_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-team=a%20key",
    }
    assert "greet.1 landed" in office.run("--auto")
    until(lambda: collector.got)
    ((path, headers, body),) = collector.got
    assert (path, headers["x-team"], headers["content-type"]) == ("/v1/traces", "a key", "application/json")
    (scope,) = body["resourceSpans"][0]["scopeSpans"]
    spans = {one["name"]: one for one in scope["spans"]}
    assert [*spans] == ["greet.1", "phase 1", "implement 1.1", "verify 1.1"]
    run, phase, attempt, verifier = spans.values()
    assert {one["traceId"] for one in spans.values()} == {run["traceId"]}
    assert [one["parentSpanId"] for one in spans.values()] == ["", run["spanId"], *[phase["spanId"]] * 2]
    assert _about(run)["asbuilt.state"] == "landed"
    told = _about(attempt)
    assert (told["asbuilt.cost_usd"], told["asbuilt.tokens"], told["asbuilt.agent"]) == (
        0.25,
        "110",
        "scripted",
    )
    assert _about(verifier)["asbuilt.ending"] == "PASS"
    for one in spans.values():
        times = int(run["startTimeUnixNano"]), int(one["startTimeUnixNano"]), int(one["endTimeUnixNano"])
        assert times[0] <= times[1] < times[2] <= int(run["endTimeUnixNano"])
    assert {one["status"]["code"] for one in spans.values()} == {1}


def test_a_collector_that_does_not_answer_changes_nothing(office: Office) -> None:
    office.script.write_text(SCRIPT, encoding="utf-8")
    office.environ["ASBUILT_TELEMETRY_ENDPOINT"] = "http://127.0.0.1:9"
    assert "greet.1 landed" in office.run("--auto")
