import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as api from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { VERSION } from '../version.ts';
import type { Span, TraceIds, Tracing } from './span.ts';

/** The most time for sending the remaining spans at the end. */
const STOP_MS = 3_000;
const REPORT_INTERVAL_MS = 60_000;

const KINDS = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT };

/**
 * Returns the tracing by OpenTelemetry's SDK, which reads its own variables (OTEL_…). Spans wait in a bounded queue and are sent in batches,
 * beside the work: what does not fit is dropped. Nothing is patched, and no global state of the API is used but its log.
 */
export function openTelemetry(report: (reason: string) => void): Tracing {
  const throttled = throttle(report);
  const log = (message: string) => throttled(message);
  const none = () => {};
  api.diag.setLogger(
    { error: log, warn: log, info: none, debug: none, verbose: none },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) =>
    throttled(typeof error === 'string' ? error : (error.message ?? error.name ?? 'unknown')),
  );
  const own = { 'service.name': 'tipline', 'service.version': VERSION, 'service.instance.id': randomUUID() };
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('tipline', VERSION);
  const contexts = new AsyncLocalStorage<api.Context>();
  const propagator = new W3CTraceContextPropagator();
  const current = () => contexts.getStore() ?? api.ROOT_CONTEXT;
  return {
    start({ name, kind, attributes, caller }) {
      const parent = caller
        ? propagator.extract(api.ROOT_CONTEXT, caller, api.defaultTextMapGetter)
        : current();
      const options = { attributes, ...(kind && { kind: KINDS[kind] }) };
      const span = tracer.startSpan(name, options, parent);
      return spanOf(span, api.trace.setSpan(parent, span), contexts, propagator);
    },
    currentIds() {
      const span = api.trace.getSpan(current());
      return span && idsOf(span);
    },
    isRecording: () => api.trace.getSpan(current())?.isRecording() ?? false,
    async stop() {
      const stopped = provider.shutdown().then(
        () => null,
        (error: Error) => error.message,
      );
      const late = delay(STOP_MS, `the last spans were not sent within ${STOP_MS} ms`, { ref: false });
      const problem = await Promise.race([stopped, late]);
      if (problem !== null) throttled(problem);
      api.diag.disable();
    },
  };
}

function spanOf(
  span: api.Span,
  context: api.Context,
  contexts: AsyncLocalStorage<api.Context>,
  propagator: W3CTraceContextPropagator,
): Span {
  return {
    setName: (name) => void span.updateName(name),
    setAttributes: (attributes) => void span.setAttributes(attributes),
    fail(type) {
      span.setAttribute('error.type', type).setStatus({ code: api.SpanStatusCode.ERROR });
    },
    end: () => span.end(),
    run: (work) => contexts.run(context, work),
    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(context, headers, api.defaultTextMapSetter);
      return headers;
    },
    ids: () => idsOf(span),
  };
}

function idsOf(span: api.Span): TraceIds {
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

function throttle(report: (reason: string) => void): (reason: string) => void {
  let next = 0;
  return (reason) => {
    if (performance.now() < next) return;
    next = performance.now() + REPORT_INTERVAL_MS;
    report(reason);
  };
}
