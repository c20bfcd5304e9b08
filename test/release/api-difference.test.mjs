import { describe, expect, it } from 'vitest';
import { apiDifference, apiNotes, isAtLeast, nextApiVersion } from '../../scripts/release/api-difference.mjs';

/** Returns a document whose one operation is changed by a function. */
function documentWith(change = () => {}) {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1.2.3' },
    components: {
      schemas: {
        Kind: { type: 'string', enum: ['A', 'B'] },
        Thing: {
          type: 'object',
          required: ['id'],
          properties: {
            id: { type: 'string' },
            note: { type: ['string', 'null'], description: 'A note.' },
            kind: { $ref: '#/components/schemas/Kind' },
          },
        },
      },
    },
    paths: {
      '/things': {
        get: {
          description: 'The things.',
          parameters: [
            { name: 'kind', in: 'query', schema: { $ref: '#/components/schemas/Kind' } },
            { name: 'page', in: 'query', schema: { type: 'integer', maximum: 100 } },
          ],
          responses: {
            200: {
              description: 'Things.',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            },
          },
        },
      },
    },
  };
  change(document, document.paths['/things'].get, document.components.schemas);
  return document;
}

const differenceAfter = (change) => apiDifference(documentWith(), documentWith(change));
const RESPONSE = 'GET /things: `responses.200.content.application/json.schema';

describe('the difference of two OpenAPI documents', () => {
  it.each([
    [
      'an operation that is removed',
      (document) => delete document.paths['/things'],
      ['GET /things: removed'],
    ],
    [
      'a parameter that is removed',
      (_document, operation) => operation.parameters.shift(),
      ['GET /things: parameter `kind` removed'],
    ],
    [
      'a parameter that becomes required',
      (_document, operation) => Object.assign(operation.parameters[1], { required: true }),
      ['GET /things: parameter `page` `required` added'],
    ],
    [
      'a narrower parameter',
      (_document, operation) => Object.assign(operation.parameters[1].schema, { maximum: 50 }),
      ['GET /things: parameter `page` `schema.maximum` changed (100 → 50)'],
    ],
    [
      'a member that is removed from a response',
      (_document, _operation, { Thing }) => delete Thing.properties.note,
      [`${RESPONSE}.properties.note\` removed`],
    ],
    [
      'a member that a response may lack',
      (_document, _operation, { Thing }) => Object.assign(Thing, { required: [] }),
      [`${RESPONSE}.required\` \`id\` removed`],
    ],
    [
      'a member of a response with another type',
      (_document, _operation, { Thing }) => Object.assign(Thing.properties.id, { type: 'integer' }),
      [`${RESPONSE}.properties.id.type\` changed (string → integer)`],
    ],
  ])('names as breaking: %s', (_name, change, lines) => {
    const difference = differenceAfter(change);
    expect(difference.breaking).toEqual(lines);
    expect(nextApiVersion('1.2.3', difference)).toBe('2.0.0');
    expect(nextApiVersion('0.1.2', difference)).toBe('0.2.0');
  });

  it.each([
    [
      'deprecated',
      (_document, operation) => Object.assign(operation, { deprecated: true }),
      ['GET /things: `deprecated` added'],
    ],
    [
      'compatible',
      (_document, operation) =>
        operation.parameters.push({ name: 'q', in: 'query', schema: { type: 'string' } }),
      ['GET /things: parameter `q` added'],
    ],
    [
      'compatible',
      (document, operation) => Object.assign(document.paths, { '/others': { get: operation } }),
      ['GET /others: added'],
    ],
    [
      'compatible',
      (_document, _operation, { Thing }) => Object.assign(Thing.properties, { size: { type: 'integer' } }),
      [`${RESPONSE}.properties.size\` added`],
    ],
    [
      'compatible',
      (_document, _operation, { Thing }) => Object.assign(Thing.properties.note, { type: 'string' }),
      [`${RESPONSE}.properties.note.type\` changed (string,null → string)`],
    ],
  ])('names as %s what clients need not follow', (kind, change, lines) => {
    const difference = differenceAfter(change);
    expect({ ...difference }).toEqual({
      breaking: [],
      deprecated: [],
      values: [],
      compatible: [],
      [kind]: lines,
    });
    expect(nextApiVersion('1.2.3', difference)).toBe('1.3.0');
    expect(nextApiVersion('0.1.2', difference)).toBe('0.1.3');
  });

  it('names a new value apart in responses, and as compatible in parameters', () => {
    const { breaking, values, compatible } = differenceAfter((_document, _operation, { Kind }) =>
      Kind.enum.push('C'),
    );
    expect(breaking).toEqual([]);
    expect(values).toEqual([`${RESPONSE}.properties.kind.enum\` \`C\` added`]);
    expect(compatible).toEqual(['GET /things: parameter `kind` `schema.enum` `C` added']);
  });

  it('ignores descriptions and examples', () => {
    const difference = differenceAfter((_document, operation, { Thing }) => {
      operation.description = 'All things.';
      Thing.properties.note.description = 'A remark.';
      Thing.properties.note.examples = ['A remark'];
      operation.responses[200].content['application/json'].examples = { one: { value: { id: 'x' } } };
    });
    expect(Object.values(difference).flat()).toEqual([]);
    expect(nextApiVersion('1.2.3', difference)).toBe('1.2.3');
    expect(apiNotes(difference, 'v1.0.0')).toContain('No differences.');
  });

  it('writes a list for each kind that has any', () => {
    const difference = differenceAfter((document) => delete document.paths['/things']);
    expect(apiNotes(difference, 'v1.0.0')).toBe(
      '## API, compared with v1.0.0\n\n### Breaks clients\n\n- GET /things: removed\n',
    );
  });
});

describe('versions', () => {
  it.each([
    ['1.2.3', '1.2.3', true],
    ['1.3.0', '1.2.9', true],
    ['2.0.0', '1.9.9', true],
    ['1.2.2', '1.2.3', false],
    ['1.10.0', '1.9.0', true],
    ['0.9.9', '1.0.0', false],
  ])('%s is at least %s: %s', (version, other, expected) => {
    expect(isAtLeast(version, other)).toBe(expected);
  });
});
