import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface CollectedSpan {
  name: string;
  /** 1: internal, 2: server, 3: client (OTLP, `SpanKind`). */
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  /** 0: unset, 2: error (OTLP, `StatusCode`). */
  status: number;
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

export interface Collector {
  url: string;
  /** All spans that have arrived, in the order of their starts. */
  spans(): CollectedSpan[];
  /** The children of a span. */
  childrenOf(span: CollectedSpan | undefined): CollectedSpan[];
  requests: number;
  close(): Promise<void>;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface Payload {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Pick<CollectedSpan, 'name' | 'kind' | 'traceId' | 'spanId' | 'parentSpanId'> & {
        attributes: Attribute[];
        status: { code?: number };
        startTimeUnixNano: string;
      })[];
    }[];
  }[];
}

const valuesOf = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/**
 * A collector of OTLP/HTTP with JSON on loopback.
 * @param answer how it answers; by default it accepts all
 */
export async function startCollector(
  answer: (response: ServerResponse) => void = (response) => response.end('{}'),
): Promise<Collector> {
  const collected: (CollectedSpan & { start: string })[] = [];
  const server = createServer(async (request, response) => {
    const payload = (await json(request)) as Payload;
    collector.requests++;
    for (const { resource, scopeSpans } of payload.resourceSpans)
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        collected.push({
          ...span,
          status: span.status.code ?? 0,
          attributes: valuesOf(span.attributes),
          resource: valuesOf(resource.attributes),
          start: span.startTimeUnixNano,
        });
    answer(response.setHeader('content-type', 'application/json'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const spans = () => [...collected].sort((a, b) => Number(BigInt(a.start) - BigInt(b.start)));
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    childrenOf: (parent) => spans().filter(({ parentSpanId }) => parentSpanId === parent?.spanId),
    requests: 0,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return collector;
}
