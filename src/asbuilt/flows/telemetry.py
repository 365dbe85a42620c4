"""Export every run that ends as a trace to an OpenTelemetry collector: OTLP over HTTP, as JSON.

Rule: telemetry neither delays nor fails a run. A trace that the collector does not take in 10 s is lost.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from asbuilt._version import VERSION
from asbuilt.journal.events import whole_history
from asbuilt.lifecycle.status.traces import Traced, trace_id, traced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run

HEADERS: Final = "OTEL_EXPORTER_OTLP_HEADERS"
"""The variable with headers for the collector, `name=value,name=value`; its values may be secret."""
_TIMEOUT_S: Final = 10.0
_INTERNAL, _OK, _ERROR = 1, 1, 2


class Traces:
    """A collector's address."""

    def __init__(self, endpoint: str, environ: Mapping[str, str]) -> None:
        """Keep where traces go, and the headers of `environ`."""
        self._url = f"{endpoint.rstrip('/')}/v1/traces"
        pairs = (pair.partition("=") for pair in environ.get(HEADERS, "").split(",") if "=" in pair)
        self._headers = {name.strip(): unquote(value.strip()) for name, _, value in pairs}

    def send(self, store: Store, run: Run, state: str) -> None:
        """Send the trace of a run that has ended, in a thread of its own."""
        with store.read() as session:
            entries = whole_history(session, run.address)
        about = {"asbuilt.plan": run.plan, "asbuilt.run": run.name, "asbuilt.state": state}
        body = payload(run.run, traced(run.run, run.name, entries, about))
        threading.Thread(target=self._post, args=(body,), daemon=True).start()

    def _post(self, body: dict[str, Any]) -> None:
        headers = {"Content-Type": "application/json", **self._headers}
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)  # noqa: S310 - the user's
        with suppress(OSError, ValueError), urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310
            pass


def payload(run: str, spans: Iterable[Traced]) -> dict[str, Any]:
    """Return an export request of OTLP as JSON."""
    told = [
        {
            "traceId": trace_id(run),
            "spanId": one.id,
            "parentSpanId": one.parent,
            "name": one.name,
            "kind": _INTERNAL,
            "startTimeUnixNano": _nanos(one.began),
            "endTimeUnixNano": _nanos(one.ended),
            "attributes": [_attribute(key, value) for key, value in one.about.items()],
            "status": {"code": _ERROR if one.is_error else _OK},
        }
        for one in spans
    ]
    scope = {"scope": {"name": "asbuilt", "version": VERSION}, "spans": told}
    named = {"attributes": [_attribute("service.name", "asbuilt")]}
    return {"resourceSpans": [{"resource": named, "scopeSpans": [scope]}]}


def _attribute(key: str, value: str | float) -> dict[str, Any]:
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}


def _nanos(at: str) -> str:
    return str(int(datetime.fromisoformat(at).timestamp() * 1_000_000) * 1_000)
