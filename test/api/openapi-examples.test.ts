import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedDefinition } from '../../src/feeds/feed.ts';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { FORMAT_NAMES } from '../../src/formats/catalogue.ts';
import { loadSample } from '../../src/sample/sample.service.ts';
import { EMBEDDED } from '../support/engines.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required?: boolean;
  example?: unknown;
  description?: string;
  schema: object;
}

interface Response {
  headers?: Record<string, object>;
  content?: Record<string, { schema: object; example?: unknown }>;
}

interface Operation {
  path: string;
  method: 'GET' | 'QUERY';
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example: unknown }> };
  responses: Record<string, Response>;
}

type Described = Omit<Operation, 'path' | 'method'>;

interface Document {
  paths: Record<string, { get: Described } | { get?: never; 'x-query': Described }>;
  components: { schemas: Record<string, Node> };
}

type Node = Record<string, unknown>;

/** Calls back for each object in a value. */
function visit(value: unknown, use: (node: Node, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) use(value as Node, path);
  for (const [name, child] of Object.entries(value)) visit(child, use, `${path}/${name}`);
}

/** The description with objects closed that name their fields: what it does not name must not be there. */
function closed(document: Document): Document {
  const copy = structuredClone(document);
  visit(copy, (node) => {
    if (node.type === 'object' && node.properties) node.additionalProperties ??= false;
  });
  return copy;
}

function addressOf({ path, parameters = [] }: Operation, query: Parameter[]): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(parameters.find((parameter) => parameter.name === name)?.example)),
  );
  const asked = new URLSearchParams(query.map(({ name, example }) => [name, String(example)]));
  return query.length === 0 ? filled : `${filled}?${asked}`;
}

/** The example of each media type of the body; one without a body if the operation has none. */
function bodiesOf({ requestBody }: Operation) {
  if (!requestBody) return [{}];
  return Object.entries(requestBody.content).map(([type, { example }]) => {
    const payload = typeof example === 'string' ? example : JSON.stringify(example);
    return { payload, headers: { 'content-type': type } };
  });
}

/** The one of the examples. */
const FEED: FeedDefinition = {
  slug: 'edge-addresses',
  name: 'Addresses for the edge firewalls',
  description: '',
  format: 'txt',
  query: 'types=IPV4,IPV6&limit=5',
  tlpCeiling: 'GREEN',
};

describe('the examples of the OpenAPI document', () => {
  describe('the OpenAPI document', () => {
    let tipline: Harness;
    let document: Document;
    let operations: Operation[];
    let problemsOf: (schema: object, value: unknown) => string[];

    beforeAll(async () => {
      tipline = await startHarness(EMBEDDED);
      await loadSample(tipline.db, NOW);
      await createFeed(tipline.db, FEED, { who: 'test', now: NOW });
      tipline.clock.now = new Date(NOW.getTime() + 1_000);
      document = (await tipline.get('/api/openapi.json', { key: null })).json();
      operations = Object.entries(document.paths).map(([path, item]) =>
        item.get ? { path, method: 'GET', ...item.get } : { path, method: 'QUERY', ...item['x-query'] },
      );
      const ajv = new Ajv2020({ strict: false, allErrors: true });
      addFormats.default(ajv);
      ajv.addSchema(closed(document), 'tipline');
      problemsOf = (schema, value) => {
        const whole = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"tipline#/'));
        const validate = ajv.compile(whole);
        return validate(value)
          ? []
          : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
      };
    });
    afterAll(() => tipline.close());

    /** Whether the answer is as the operation describes it. */
    function check({ operationId, responses }: Operation, asked: string, answer: LightMyRequestResponse) {
      const described = responses[String(answer.statusCode)];
      const mediaType = String(answer.headers['content-type']);
      const [type = ''] = mediaType.split(';');
      const content = described?.content?.[mediaType] ?? described?.content?.[type];
      expect({
        operationId,
        asked,
        status: answer.statusCode,
        type,
        described: content !== undefined,
      }).toEqual({ operationId, asked, status: answer.statusCode, type, described: true });
      const value = /[/+]json$/.test(type) ? answer.json() : answer.body;
      expect({ asked, problems: problemsOf(content?.schema ?? {}, value) }).toEqual({ asked, problems: [] });
      const own = Object.keys(answer.headers).filter((name) =>
        /^(etag|x-(?!request-id|dns|frame|content|down|permitted|xss).*)$/.test(name),
      );
      const told = Object.keys(described?.headers ?? {}).map((name) => name.toLowerCase());
      expect({ asked, undescribed: own.filter((name) => !told.includes(name)) }).toEqual({
        asked,
        undescribed: [],
      });
      return value;
    }

    it('has examples for every operation that return data and match the schema', async () => {
      const found = new Map<string, number>();
      for (const operation of operations) {
        if (operation.path.includes('{uuid}')) {
          // Each installation has other uuids.
          const path = operation.path.replace('{uuid}', 'manifest').replace('{group}', 'report');
          const manifest = (await tipline.get(path)).json();
          const parameter = operation.parameters?.find(({ name }) => name === 'uuid');
          if (parameter) parameter.example = Object.keys(manifest)[0];
        }
        const query = (operation.parameters ?? []).filter(
          (parameter) => parameter.in === 'query' && parameter.example !== undefined,
        );
        const needed = query.filter(({ required }) => required);
        const others = query.filter(({ required }) => !required);
        for (const asked of [needed, ...others.map((parameter) => [...needed, parameter])]) {
          const address = addressOf(operation, asked);
          for (const body of bodiesOf(operation)) {
            const answer = await tipline.get(address, { method: operation.method, ...body });
            expect([address, answer.statusCode]).toEqual([address, 200]);
            const value = check(operation, address, answer);
            const count = value?.total ?? answer.headers['x-total-count'];
            if (count !== undefined) expect([address, Number(count) > 0]).toEqual([address, true]);
            found.set(operation.operationId, answer.body.length);
          }
        }
      }
      expect([...found.keys()].sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
    });

    it('has an example of every response that matches its schema', () => {
      for (const { operationId, responses } of operations) {
        for (const [type, { schema, example }] of Object.entries(responses[200]?.content ?? {})) {
          const name = '$ref' in schema ? String(schema.$ref).replace('#/components/schemas/', '') : '';
          const of = document.components.schemas[name] as { examples?: unknown[] } | undefined;
          const given = example ?? of?.examples?.[0];
          expect([operationId, type, given]).toEqual([operationId, type, expect.anything()]);
          expect([operationId, type, problemsOf(schema, given)]).toEqual([operationId, type, []]);
        }
      }
    });

    it('describes every field, parameter and vocabulary', () => {
      const undescribed: string[] = [];
      visit(document.components.schemas, ({ properties = {} }, path) => {
        for (const [name, field] of Object.entries(properties as Record<string, Node>))
          if (!field.description && !field.$ref && !field.anyOf) undescribed.push(`${path} ${name}`);
      });
      for (const { operationId, parameters = [] } of operations)
        for (const { name, description } of parameters)
          if (!description) undescribed.push(`${operationId} ${name}`);
      for (const [name, { description }] of Object.entries(document.components.schemas))
        if (!description) undescribed.push(name);
      expect(undescribed).toEqual([]);
    });

    it('defines each vocabulary once, as a named schema', () => {
      const written = new Map<string, string[]>();
      visit(document, ({ enum: values }, path) => {
        if (!Array.isArray(values) || values.length < 3) return;
        const all = values.filter((value) => value !== null).join();
        written.set(all, [...(written.get(all) ?? []), path]);
      });
      // The list's own formats: those of the exports, and json.
      const repeated = [...written.values()].filter(
        (paths) => paths.length > 1 || !paths[0]?.startsWith('/components/schemas/'),
      );
      expect(repeated).toEqual([[expect.stringMatching('^/paths//api/v1/indicators/get/parameters/')]]);
    });

    it.each(FORMAT_NAMES)(
      'documents %s under its own address, which returns the same bytes',
      async (format) => {
        const query = 'minConfidence=75&types=IPV4&types=DOMAIN';
        const [own, before] = [
          await tipline.get(`/api/v1/exports/${format}?${query}`),
          await tipline.get(`/api/v1/indicators?format=${format}&${query}`),
        ];
        const operation = operations.find(
          ({ operationId }) => operationId === 'exportIndicators',
        ) as Operation;
        check(operation, format, own);
        // A trailer of the response during which the export is written, then a header.
        const parts = ({ statusCode, headers, trailers, body }: LightMyRequestResponse) => ({
          ...{ statusCode, body, etag: headers.etag, type: headers['content-type'] },
          ...{ total: headers['x-total-count'], skipped: headers['x-skipped'] ?? trailers['x-skipped'] },
          file: headers['content-disposition'],
        });
        expect(parts(own)).toEqual(parts(before));
        expect(own.body.length).toBeGreaterThan(200);
        const known = { 'if-none-match': String(own.headers.etag) };
        expect((await tipline.get(`/api/v1/exports/${format}?${query}`, { headers: known })).statusCode).toBe(
          304,
        );
      },
    );

    it('describes partial content and a range beyond the end', async () => {
      const operation = operations.find(({ operationId }) => operationId === 'exportIndicators') as Operation;
      await tipline.get('/api/v1/exports/csv');
      const part = await tipline.get('/api/v1/exports/csv', { headers: { range: 'bytes=0-9' } });
      expect([part.statusCode, check(operation, 'a range', part)]).toEqual([206, 'type,value']);
      const behind = await tipline.get('/api/v1/exports/csv', { headers: { range: 'bytes=999999999-' } });
      expect(behind.statusCode).toBe(416);
      check(operation, 'a range behind the end', behind);
    });

    it('describes error responses', async () => {
      for (const [id, address, status] of [
        ['exportIndicators', '/api/v1/exports/xlsx', 404],
        ['exportIndicators', '/api/v1/exports/csv?style=paloalto', 400],
        ['exportIndicators', '/api/v1/exports/csv?format=stix', 400],
        ['listIndicators', '/api/v1/indicators?pageSize=501', 400],
        ['getIndicator', '/api/v1/indicators/none', 404],
        ['getTaxiiCollection', '/taxii2/root/collections/none/', 404],
      ] as const) {
        const answer = await tipline.get(address);
        expect([address, answer.statusCode]).toEqual([address, status]);
        check(operations.find(({ operationId }) => operationId === id) as Operation, address, answer);
      }
    });

    it('accepts page and pageSize for exports as for the list', async () => {
      const list = (await tipline.get('/api/v1/indicators?page=2&pageSize=7')).json();
      const page = await tipline.get('/api/v1/exports/ndjson?page=2&pageSize=7');
      const lines = page.body.trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line).id)).toEqual(list.data.map(({ id }: { id: string }) => id));
      expect(page.headers['x-total-count']).toBe(String(list.total));
    });
  });
});
