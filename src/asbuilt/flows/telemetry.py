"""Export to an OpenTelemetry collector: a trace and counters of every run that ends, and the worker's load.

OTLP over HTTP, as JSON. Rule: telemetry neither delays nor fails a run. What the collector does not take in
10 s is lost.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from asbuilt._version import VERSION
from asbuilt.flows.engine.background import beside
from asbuilt.journal.engine import segments
from asbuilt.journal.events import whole_history
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.status.metrics import Figure, counted
from asbuilt.lifecycle.status.traces import Traced, trace_id, traced

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Engine
    from asbuilt.journal.database.store import Store

HEADERS: Final = "OTEL_EXPORTER_OTLP_HEADERS"
"""The variable with headers for the collector, `name=value,name=value`; its values may be secret."""
INTERVAL: Final = "OTEL_METRIC_EXPORT_INTERVAL"
"""The variable with the milliseconds between two reports of the load."""
_INTERVAL_MS: Final = 60_000
_TIMEOUT_S: Final = 10.0
_INTERNAL, _OK, _ERROR = 1, 1, 2
_DELTA: Final = 1
_MOST: Final = 1_000
"""Most waiting segments that are counted."""


class Collector:
    """A collector's address."""

    def __init__(self, endpoint: str, environ: Mapping[str, str]) -> None:
        """Keep where everything goes, and the headers and the interval of `environ`."""
        self._url = f"{endpoint.rstrip('/')}/v1"
        pairs = (pair.partition("=") for pair in environ.get(HEADERS, "").split(",") if "=" in pair)
        self._headers = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
        every_ms = environ.get(INTERVAL, "")
        self._every_s = (int(every_ms) if every_ms.isdecimal() and int(every_ms) else _INTERVAL_MS) / 1000

    def send(self, store: Store, run: Run, state: str) -> None:
        """Send the trace and the counters of a run that has ended, in a thread of its own."""
        with store.read() as session:
            entries, now = list(whole_history(session, run.address)), session.now
        about = {"asbuilt.plan": run.plan, "asbuilt.run": run.name, "asbuilt.state": state}
        spans = traced(run.run, run.name, entries, about)
        counters = counted(run.run, state, entries, spans)
        bodies = {"traces": payload(run.run, spans), "metrics": _metrics(counters, now, began=run.at)}
        threading.Thread(target=self._post_all, args=(bodies,), daemon=True).start()

    def reporting(self, store: Store, engine: Engine) -> AbstractContextManager[Callable[[], bool]]:
        """Report the load while the worker runs."""
        return beside(_Load(store, engine, self.post, self._every_s))

    def _post_all(self, bodies: Mapping[str, dict[str, Any]]) -> None:
        for signal, body in bodies.items():
            self.post(signal, body)

    def post(self, signal: str, body: dict[str, Any]) -> None:
        """Send one request; an error is ignored."""
        headers = {"Content-Type": "application/json", **self._headers}
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}/{signal}", data, headers)  # noqa: S310 - the user's
        with suppress(OSError, ValueError), urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310
            pass


class _Load:
    waits = False
    """Nothing here keeps a worker from ending."""

    def __init__(
        self, store: Store, engine: Engine, post: Callable[[str, dict[str, Any]], None], every_s: float
    ) -> None:
        self.every_s = every_s
        self._store = store
        self._engine = engine
        self._post = post

    def look(self) -> int:
        """Send one report."""
        if not self._engine.is_launched:
            return 0
        with self._store.read() as session:
            due, now = segments.unbegun(session, LOCAL, limit=_MOST), session.now
        mine = {"asbuilt.worker": self._engine.worker}
        waited = datetime.fromisoformat(now) - datetime.fromisoformat(due[0] if due else now)
        figures = [
            Figure("asbuilt.worker.slots", "{slot}", self._engine.slots, mine),
            Figure("asbuilt.worker.slots.busy", "{slot}", self._engine.slots - self._engine.free, mine),
            Figure("asbuilt.queue.length", "{segment}", len(due), mine),
            Figure("asbuilt.queue.waiting_time", "s", waited.total_seconds(), mine),
        ]
        self._post("metrics", _metrics(figures, now))
        return 1


def payload(run: str, spans: Iterable[Traced]) -> dict[str, Any]:
    """Return an export request of OTLP as JSON."""
    span_data = [
        {
            "traceId": trace_id(run),
            "spanId": span.id,
            "parentSpanId": span.parent,
            "name": span.name,
            "kind": _INTERNAL,
            "startTimeUnixNano": _nanos(span.began),
            "endTimeUnixNano": _nanos(span.ended),
            "attributes": [_attribute(key, value) for key, value in span.about.items()],
            "status": {"code": _ERROR if span.is_error else _OK},
        }
        for span in spans
    ]
    return {"resourceSpans": [{"resource": _RESOURCE, "scopeSpans": [{"scope": _SCOPE, "spans": span_data}]}]}


def _metrics(figures: Iterable[Figure], at: str, *, began: str | None = None) -> dict[str, Any]:
    """Return an export request: counters of what happened since `began`, or gauges."""
    named: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for figure in figures:
        point: dict[str, Any] = {
            "attributes": [_attribute(key, value) for key, value in figure.about.items()],
            "timeUnixNano": _nanos(at),
        }
        if began is not None:
            point["startTimeUnixNano"] = _nanos(began)
        point |= {"asInt": str(figure.value)} if isinstance(figure.value, int) else {"asDouble": figure.value}
        named.setdefault((figure.name, figure.unit), []).append(point)
    how = {"aggregationTemporality": _DELTA, "isMonotonic": True}
    metrics = [
        {"name": name, "unit": unit}
        | ({"gauge": {"dataPoints": points}} if began is None else {"sum": {**how, "dataPoints": points}})
        for (name, unit), points in named.items()
    ]
    return {
        "resourceMetrics": [{"resource": _RESOURCE, "scopeMetrics": [{"scope": _SCOPE, "metrics": metrics}]}]
    }


def _attribute(key: str, value: str | float) -> dict[str, Any]:
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}


_RESOURCE: Final = {"attributes": [_attribute("service.name", "asbuilt")]}
_SCOPE: Final = {"name": "asbuilt", "version": VERSION}


def _nanos(at: str) -> str:
    return str(int(datetime.fromisoformat(at).timestamp() * 1_000_000) * 1_000)
