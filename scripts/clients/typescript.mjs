import { nameOf } from './description.mjs';
import { wrap } from './text.mjs';

const HEAD = '// Written by scripts/clients.mjs from openapi/openapi.json: npm run openapi.\n';
const SCALARS = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

/** Returns the module with a type for each schema, and for the query of each operation. */
export function typescriptTypes({ schemas, operations }) {
  const types = Object.entries(schemas).map(
    ([name, schema]) => `${comment(schema.description)}export ${declaration(name, schema)}`,
  );
  const queries = operations
    .filter(({ query }) => query.length > 0)
    .map(
      ({ id, query }) =>
        `/** The query of {@link Operations.${id}}. */\nexport interface ${queryType(id)} ${queryFields(query)}\n`,
    );
  return `${HEAD}\nimport type { Operations } from './operations.js';\n\n${[...types, ...queries].join('\n')}`;
}

const declaration = (name, schema) =>
  isObject(schema) && schema.properties && !isMap(schema)
    ? `interface ${name} ${typeOf(schema)}\n`
    : `type ${name} = ${typeOf(schema)};\n`;

/** An optional parameter may be given as undefined, also with exactOptionalPropertyTypes. */
const queryFields = (query) =>
  object(
    query.map(({ name, required, description, schema }) => ({
      name,
      required,
      description,
      schema: required ? schema : { anyOf: [schema, { undefined: true }] },
    })),
    '',
  );

const isObject = ({ type }) => type === 'object';
const isMap = ({ properties, additionalProperties }) =>
  additionalProperties === true && Object.keys(properties ?? {}).length === 0;

function typeOf(schema, indent = '') {
  const name = nameOf(schema);
  if (name !== null) return name;
  if (schema.undefined) return 'undefined';
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, indent)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  if (schema.type === 'array') {
    const items = typeOf(schema.items, indent);
    return items.includes(' | ') || items.startsWith('{') ? `Array<${items}>` : `${items}[]`;
  }
  if (isObject(schema)) {
    if (isMap(schema)) return 'Record<string, unknown>';
    if (typeof schema.additionalProperties === 'object')
      return `Record<string, ${typeOf(schema.additionalProperties, indent)}>`;
    const fields = Object.entries(schema.properties).map(([name, property]) => ({
      name,
      required: schema.required?.includes(name),
      description: property.description,
      schema: property,
    }));
    return object(fields, indent, schema.additionalProperties === true);
  }
  // A schema without a type allows any value.
  if (schema.type === undefined) return 'unknown';
  const scalar = SCALARS[schema.type];
  if (!scalar) throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
  return scalar;
}

function object(fields, indent, isOpen = false) {
  const inner = `${indent}  `;
  const lines = fields.map(({ name, required, description, schema }) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${comment(description, inner)}${inner}${key}${required ? '' : '?'}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${lines.join('')}${isOpen ? `${inner}[property: string]: unknown;\n` : ''}${indent}}`;
}

function comment(text, indent = '') {
  if (!text) return '';
  const lines = wrap(text.replaceAll('*/', '*\\/'), `${indent} * `);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

/** Returns the module with a method for each operation. */
export function typescriptOperations({ version, operations }) {
  const methods = operations.flatMap((operation) => [
    method(operation),
    ...(operation.paging ? [iterating(operation)] : []),
    ...(operation.following ? [following(operation)] : []),
  ]);
  const names = new Set(
    operations.flatMap(({ id, type, query, inPath, paging }) => [
      ...(type ? [type] : []),
      ...(query.length > 0 ? [queryType(id)] : []),
      ...inPath.map(({ schema }) => nameOf(schema)).filter(Boolean),
      ...(paging?.items ? [paging.items] : []),
    ]),
  );
  return `${HEAD}
import type { Download } from '../download.js';
import { follow, items } from '../iterate.js';
import { type CallOptions, type DownloadOptions, segment, type Transport } from '../transport.js';
import type {
${[...names]
  .sort()
  .map((name) => `  ${name},\n`)
  .join('')}} from './types.js';

/** The version of the API that this client was written for. */
export const VERSION = ${JSON.stringify(version)};

/** A method for each operation of the API, named by its \`operationId\`. */
export abstract class Operations {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

${methods.join('\n')}}
`;
}

function method(operation) {
  const { id, about, method, path, inPath, query, body, kind, type, statuses, mediaType, isPublic } =
    operation;
  const parameters = [
    ...inPath.map(({ name, schema }) => `${name}: ${typeOf(schema)}`),
    ...(body ? [`body: ${bodyType(body)}`] : []),
    ...queryParameter(operation, queryType(id)),
    `options: ${kind === 'download' ? 'DownloadOptions' : 'CallOptions'} = {}`,
  ];
  const request = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    `path: ${pathOf(operation)}`,
    ...(query.length > 0 ? ['query: { ...query }'] : []),
    ...(body ? ['body'] : []),
    ...(mediaType ? [`accept: '${mediaType}'`] : []),
    ...(statuses?.length > 0 ? [`statuses: [${statuses}]`] : []),
    ...(isPublic ? ['isPublic: true'] : []),
  ];
  const returned = { json: type, text: 'string', download: 'Download' }[kind];
  return `${doc([...about, '', `\`${method} ${path}\``, ...inPath.map(described)])}  ${id}(${parameters.join(', ')}): Promise<${returned}> {
    return this.transport.${kind}({ ${request.join(', ')} }, options);
  }
`;
}

function iterating(operation) {
  const { id, inPath, paging } = operation;
  const queryOf = `Omit<${queryType(id)}, 'page'>`;
  return `${doc([
    `Yields the items of all pages of {@link ${id}}, of \`pageSize\` or ${paging.most} each.`,
    'While data changes, an item may be on two pages or on none: an export or the change feed is exact.',
  ])}  ${paging.name}(${[...inPath.map(({ name, schema }) => `${name}: ${typeOf(schema)}`), `query: ${queryOf} = {}`, 'options: CallOptions = {}'].join(', ')}): AsyncGenerator<${paging.items ?? `${operation.type}['data'][number]`}, void, undefined> {
    return items((page) => this.${id}(${[...inPath.map(({ name }) => name), `{ pageSize: ${paging.most}, ...query, page }`, 'options'].join(', ')}));
  }
`;
}

function following(operation) {
  const { id, inPath, type, following } = operation;
  return `${doc([
    `Yields the responses of {@link ${id}}: first all pages, then changes as they come. Store the \`cursor\` of each together with its changes, and begin with \`cursor\` after a restart. While \`hasMore\` is true, the copy is not complete.`,
    'With `wait: 0` it ends when the copy is complete; otherwise it waits for changes, `wait` seconds (30) a request.',
    '@throws {TiplineError} with the status 400, 409 or 410 when the cursor cannot be used: begin without one, and replace the copy',
  ])}  ${following.name}(${[...inPath.map(({ name, schema }) => `${name}: ${typeOf(schema)}`), `query: ${queryType(id)} = {}`, 'options: CallOptions = {}'].join(', ')}): AsyncGenerator<${type}, void, undefined> {
    return follow(this.transport, query, options, (from) => this.${id}(${[...inPath.map(({ name }) => name), '{ ...query, ...from }', 'options'].join(', ')}));
  }
`;
}

const described = ({ name, description }) => `@param ${name} ${description}`;
const doc = (texts) => {
  const lines = texts.flatMap((text) => wrap(text, '   * '));
  return `  /**\n${lines.map((line) => `   * ${line}`.trimEnd()).join('\n')}\n   */\n`;
};

function queryParameter({ query }, type) {
  if (query.length === 0) return [];
  return [query.some(({ required }) => required) ? `query: ${type}` : `query: ${type} = {}`];
}

/** A text is sent as text/plain, everything else as JSON. */
const bodyType = (content) =>
  content.map(([, { schema }]) => typeOf(schema).replace(/\s+/g, ' ')).join(' | ');

const pathOf = ({ path, inPath }) =>
  inPath.length === 0
    ? `'${path}'`
    : `\`${path.replaceAll(/\{(\w+)\}/g, (_, name) => `\${segment(${name})}`)}\``;

const queryType = (id) => `${id[0].toUpperCase()}${id.slice(1)}Query`;
