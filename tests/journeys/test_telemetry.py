"""A collector on loopback gets every run that ends as a trace and as counters, and the worker's load."""

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
    """As much of a collector as an exporter sees: it takes traces and metrics over HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[str, dict[str, str], Any]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def traces(self) -> list[tuple[str, dict[str, str], Any]]:
        return [one for one in self.got if one[0] == "/v1/traces"]

    def metrics(self, kind: str) -> list[dict[str, Any]]:
        """Return every metric of a kind, `sum` or `gauge`, in the order of its arrival."""
        bodies = [body for path, _, body in self.got if path == "/v1/metrics"]
        told = [one for body in bodies for one in body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]]
        return [one for one in told if kind in one]


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


def _points(metric: dict[str, Any], kind: str) -> list[tuple[dict[str, Any], float]]:
    points = metric[kind]["dataPoints"]
    return [(_about(one), float(one.get("asInt", one.get("asDouble")))) for one in points]


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
    until(lambda: collector.traces)
    ((path, headers, body),) = collector.traces
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


def test_a_run_that_ends_adds_to_the_counters_and_the_worker_reports_its_load(
    office: Office, collector: Collector
) -> None:
    slow = SCRIPT.replace('{ say = "done" }', '{ sleep = 2 }, { say = "done" }')
    office.script.write_text(slow, encoding="utf-8")
    office.environ |= {
        "ASBUILT_TELEMETRY_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_METRIC_EXPORT_INTERVAL": "200",
    }
    assert "greet.1 landed" in office.run("--auto")
    until(lambda: collector.metrics("sum"))
    sums = {one["name"]: one for one in collector.metrics("sum")}
    assert {one["sum"]["aggregationTemporality"] for one in sums.values()} == {1}
    waited = _points(sums.pop("asbuilt.runs.waiting_time"), "sum")
    assert [about for about, _ in waited] == [{}]
    assert 0 < waited[0][1] < 60
    who = {"asbuilt.agent": "scripted", "asbuilt.role": "implement"}
    judge = {**who, "asbuilt.role": "verify"}
    assert {name: _points(one, "sum") for name, one in sums.items()} == {
        "asbuilt.runs": [({"asbuilt.state": "landed"}, 1)],
        "asbuilt.phases": [({"asbuilt.outcome": "proven"}, 1)],
        "asbuilt.attempts": [
            ({**who, "asbuilt.ending": "done"}, 1),
            ({**judge, "asbuilt.ending": "PASS"}, 1),
        ],
        "asbuilt.tokens": [(who, 110), (judge, 0)],
        "asbuilt.cost_usd": [(who, 0.25), (judge, 0)],
    }
    gauges = collector.metrics("gauge")
    seen: dict[str, float] = {}
    for one in gauges:
        ((_, value),) = _points(one, "gauge")
        seen[one["name"]] = max(value, seen.get(one["name"], 0))
    assert seen.keys() - {"asbuilt.queue.waiting_time"} == {
        "asbuilt.worker.slots", "asbuilt.worker.slots.busy", "asbuilt.queue.length",
    }  # fmt: skip
    assert (seen["asbuilt.worker.slots"], seen["asbuilt.worker.slots.busy"]) == (2, 1)


def test_a_collector_that_does_not_answer_changes_nothing(office: Office) -> None:
    office.script.write_text(SCRIPT, encoding="utf-8")
    office.environ["ASBUILT_TELEMETRY_ENDPOINT"] = "http://127.0.0.1:9"
    assert "greet.1 landed" in office.run("--auto")
