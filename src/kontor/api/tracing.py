"""OpenTelemetry traces: one span per request, exported only when a collector is configured."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from kontor import __version__
from kontor.egress import Destination, Purpose, find_host, make_guarded_adapter

if TYPE_CHECKING:
    from requests import Session

EXPORT_SECONDS = 2  # also what a collector that is away can delay our end by


class RequestSpan(Protocol):
    def finish(self, scope: Any, status: int) -> None: ...


class _NoSpan:
    def __enter__(self) -> "_NoSpan":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def finish(self, scope: Any, status: int) -> None:
        pass


_NO_SPAN = _NoSpan()


class Tracing:
    """Without a collector this does nothing, and nothing of OpenTelemetry is loaded."""

    def request_span(self, scope: Any) -> AbstractContextManager[RequestSpan]:
        return _NO_SPAN

    def shut_down(self) -> None:
        pass


class OpenTelemetryTracing(Tracing):
    def __init__(self, endpoint: str) -> None:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        resource = Resource.create({"service.name": "kontor", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(
            endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_SECONDS, session=_open_session(endpoint)
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=1000))
        self._tracer = self._provider.get_tracer("kontor")
        self._propagator = TraceContextTextMapPropagator()
        self._kind = trace.SpanKind.SERVER
        self._error = trace.StatusCode.ERROR

    @contextmanager
    def request_span(self, scope: Any) -> Iterator[RequestSpan]:
        carrier = {
            key.decode("latin-1"): value.decode("latin-1")
            for key, value in scope["headers"]
            if key.startswith(b"trace")
        }
        parent = self._propagator.extract(carrier)
        with self._tracer.start_as_current_span(scope["method"], context=parent, kind=self._kind) as span:
            yield _OpenSpan(span, self._error)

    def shut_down(self) -> None:
        self._provider.shutdown()


class _OpenSpan:
    def __init__(self, span: Any, error: Any) -> None:
        self._span = span
        self._error = error

    def finish(self, scope: Any, status: int) -> None:
        """Templates and counts only: no path, query or header of the caller gets into a trace."""
        operation = scope.get("kontor.operation", "none")
        self._span.update_name(f"{scope['method']} {operation}")
        self._span.set_attribute("http.request.method", scope["method"])
        self._span.set_attribute("http.response.status_code", status)
        self._span.set_attribute("kontor.operation", operation)
        if status >= 500:
            self._span.set_status(self._error)


def _open_session(endpoint: str) -> "Session":
    """Connections to the collector only."""
    from requests import Session

    destination = Destination(Purpose.TRACING, frozenset({find_host(endpoint)}))
    session = Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, make_guarded_adapter(destination))
    return session


def make_tracing(endpoint: str | None) -> Tracing:
    return Tracing() if endpoint is None else OpenTelemetryTracing(endpoint)
