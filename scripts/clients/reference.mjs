import { nameOf } from './description.mjs';
import { snake } from './python.mjs';

// The reference of the API in Markdown: a page for each group of operations, and one for the objects in their responses.

const FOLDER = 'docs/reference/api';
const SERVER = 'http://127.0.0.1:8080';
/** Of every operation with a key: not repeated for each. */
const COMMON = ['304', '400', '401', '403', '406', '429', '503'];
/** The number of items in the examples of operations that page. */
const FEW = 5;
const HEAD = '<!-- Written by scripts/clients.mjs from openapi/openapi.json: npm run openapi. -->\n';

const PYTHON_START = `import os
from tipline import Tipline

tipline = Tipline("${SERVER}", os.environ["TIPLINE_KEY"])`;
const TYPESCRIPT_START = `import { Tipline } from 'tipline-client';

const tipline = new Tipline({ url: '${SERVER}', key: process.env.TIPLINE_KEY ?? '' });`;

/**
 * Returns the pages of the reference by path.
 * @param document the OpenAPI document
 * @param description what `readDescription` returns of it
 */
export function referencePages(document, { operations, schemas }) {
  const known = new Map(operations.map((operation) => [operation.id, operation]));
  const pages = document.tags.map((tag) => [`${FOLDER}/${fileOf(tag.name)}`, page(tag)]);
  return Object.fromEntries([...pages, [`${FOLDER}/objects.md`, objectsPage(document.components.schemas)]]);

  function page(tag) {
    const own = Object.entries(document.paths)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, item]) => Object.values(item))
      .filter(({ tags }) => tags[0] === tag.name);
    const isPublic = own.every(({ security }) => security.length === 0);
    return `# ${tag.name}: operations

${HEAD}
${tag.description} ${isPublic ? 'No key is needed.' : `Each operation may also answer ${COMMON.join(', ')} ([errors.md](../errors.md)).`}

The examples in Python and TypeScript use the [clients](../../../clients/python/README.md), and begin with

\`\`\`python
${PYTHON_START}
\`\`\`

\`\`\`ts
${TYPESCRIPT_START}
\`\`\`

${own.map((operation) => operationSection(operation, known.get(operation.operationId), schemas)).join('\n')}`;
  }
}

const fileOf = (tag) => `${tag.toLowerCase().replaceAll(' ', '-')}.md`;

function operationSection(operation, described, schemas) {
  const { operationId, summary, description, parameters = [], requestBody, responses, security } = operation;
  const { method, path, paging, following } = described;
  const scopes = [...new Set((security ?? []).flatMap((one) => Object.values(one).flat()))];
  const others = [
    paging && `\`${paging.name}\` yields the items of all pages, in Python \`${snake(paging.name)}\`.`,
    following &&
      `\`${following.name}\` goes on with changes as they come, in Python \`${snake(following.name)}\`.`,
  ].filter(Boolean);
  const errors = Object.entries(responses).filter(([status]) => status !== '200' && !COMMON.includes(status));
  return [
    `## ${summary}\n`,
    `\`${method} ${path}\`\n`,
    `Operation \`${operationId}\`; ${scopes.length > 0 ? `scope ${scopes.map(code).join(' or ')}` : 'no key'}.\n`,
    ...(description ? [`${cell(description)}\n`] : []),
    ...(requestBody ? [bodyTable(requestBody)] : []),
    ...(parameters.length > 0 ? [parameterTable(parameters)] : []),
    ...(others.length > 0 ? [`${others.join(' ')}\n`] : []),
    fence('sh', curlExample(operation, described)),
    fence('python', pythonExample(operation, described)),
    fence('ts', typescriptExample(operation, described)),
    responseText(responses[200], described, schemas),
    ...(errors.length > 0
      ? [
          table(
            ['status', 'when'],
            errors.map(([status, { description }]) => [status, cell(description)]),
          ),
        ]
      : []),
  ].join('\n');
}

function parameterTable(parameters) {
  const inPath = parameters.filter((one) => one.in === 'path');
  const rest = parameters.filter((one) => one.in !== 'path');
  return table(
    ['parameter', 'values', 'meaning'],
    [...inPath, ...rest].map(({ name, in: place, required, schema, description = '' }) => [
      `${code(name)}${place === 'path' ? ', in the path' : required ? ', required' : ''}`,
      valuesOf(schema),
      cell(description),
    ]),
  );
}

function bodyTable({ content }) {
  return table(
    ['body', 'values', 'meaning'],
    Object.entries(content).flatMap(([mediaType, { schema }]) =>
      schema.type === 'object'
        ? Object.entries(schema.properties).map(([name, property]) => [
            `${code(mediaType)}: ${code(name)}`,
            valuesOf(property),
            cell(property.description ?? ''),
          ])
        : [[code(mediaType), valuesOf(schema), cell(schema.description ?? '')]],
    ),
  );
}

/** Returns the values that a schema allows: its vocabulary, type, bounds and default. */
function valuesOf(schema) {
  const { anyOf, enum: values, items, minimum, maximum, default: initial, type, format } = schema;
  const reference = nameOf(schema);
  if (reference !== null) return `[${reference}](objects.md#${reference.toLowerCase()})${defaultOf(initial)}`;
  if (anyOf) return anyOf.map(valuesOf).join(' or ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (values) return values.map((one) => code(String(one))).join(', ') + defaultOf(initial);
  if (items) return `list of ${valuesOf(items)}`;
  const types = [type ?? 'any'].flat();
  const bounds =
    minimum === undefined && maximum === undefined
      ? ''
      : maximum === undefined
        ? `, at least ${minimum}`
        : minimum === undefined
          ? `, at most ${maximum}`
          : `, ${minimum} to ${maximum}`;
  return types.join(' or ') + (format ? ` (${format})` : '') + bounds + defaultOf(initial);
}

const defaultOf = (value) => (value === undefined ? '' : `; default ${code(String(value))}`);

/** The objects in responses, each with its fields. */
function objectsPage(schemas) {
  const sections = Object.entries(schemas).map(([name, schema]) => {
    const { description, properties = {}, required = [], enum: values } = schema;
    const fields = Object.entries(properties).map(([field, property]) => [
      `${code(field)}${required.includes(field) ? '' : ', optional'}`,
      valuesOf(property),
      cell(property.description ?? ''),
    ]);
    return [
      `## ${name}\n`,
      ...(description ? [`${cell(description)}\n`] : []),
      ...(values ? [`${values.map((value) => code(String(value))).join(', ')}\n`] : []),
      ...(fields.length > 0 ? [table(['field', 'values', 'meaning'], fields)] : []),
    ].join('\n');
  });
  return `# Objects of the API\n\n${HEAD}\nThe objects and vocabularies in requests and responses.\n\n${sections.join('\n')}`;
}

/** Describes a response, with an example of the document. */
function responseText({ description, content }, { type, kind }, schemas) {
  const entries = Object.entries(content);
  const [, first] = entries[0];
  const example = first.example ?? (kind === 'json' ? schemas[type].examples?.[0] : undefined);
  const reference = nameOf(first.schema);
  const object = reference === null ? '' : ` ([${reference}](objects.md#${reference.toLowerCase()}))`;
  const title = `200: ${cell(description)} ${entries.map(([name]) => code(name)).join(', ')}${object}\n`;
  if (example === undefined) return title;
  const isText = typeof example === 'string';
  return `${title}\n${fence(isText ? 'text' : 'json', isText ? example.trimEnd() : JSON.stringify(example, null, 2))}`;
}

/** The arguments of an example: those that are required, and few items of those that are many. */
function exampleArguments({ parameters = [] }, { inPath, query }) {
  const exampleOf = ({ example, schema }) => example ?? schema.examples?.[0] ?? schema.example;
  const size = ['limit', 'pageSize'].find((name) => query.some((one) => one.name === name));
  return {
    path: inPath.map((one) => [one.name, exampleOf(parameters.find(({ name }) => name === one.name) ?? one)]),
    query: query
      .filter(({ name, required }) => required || name === size)
      .map((one) => [one.name, one.name === size ? FEW : exampleOf(one)]),
  };
}

function curlExample(operation, described) {
  const { path, query } = exampleArguments(operation, described);
  const address = path.reduce((text, [name, value]) => text.replace(`{${name}}`, value), described.path);
  const pairs = query.flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}=${encodeURIComponent(one)}`),
  );
  const url = `'${SERVER}${address}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}'`;
  const key = described.isPublic ? '' : 'H "Authorization: Bearer $TIPLINE_KEY"';
  if (!described.body) return `curl -fsS${key} ${url}`;
  const body = exampleBody(described).replaceAll('\n', '\\n');
  return `printf '${body}' |\n  curl -fsS${key} -X ${described.method} -H 'Content-Type: text/plain' --data-binary @- ${url}`;
}

const exampleBody = ({ body }) => body.find(([mediaType]) => mediaType === 'text/plain')[1].example;

function pythonExample(operation, described) {
  const { path, query } = exampleArguments(operation, described);
  const args = [
    ...path.map(([, value]) => JSON.stringify(value)),
    ...(described.body ? [JSON.stringify(exampleBody(described))] : []),
    ...query.map(([name, value]) => `${snake(name)}=${JSON.stringify(value)}`),
  ];
  const call = `tipline.${snake(described.id)}(${args.join(', ')})`;
  return described.kind === 'download' ? `for line in ${call}.lines():\n    print(line)` : `print(${call})`;
}

function typescriptExample(operation, described) {
  const { path, query } = exampleArguments(operation, described);
  const literal = (value) =>
    Array.isArray(value)
      ? `[${value.map(literal).join(', ')}]`
      : typeof value === 'string'
        ? quoted(value)
        : String(value);
  const args = [
    ...path.map(([, value]) => literal(value)),
    ...(described.body ? [literal(exampleBody(described))] : []),
    ...(query.length > 0
      ? [
          `{ ${query.map(([name, value]) => `${/^\w+$/.test(name) ? name : quoted(name)}: ${literal(value)}`).join(', ')} }`,
        ]
      : []),
  ];
  const call = `await tipline.${described.id}(${args.join(', ')})`;
  return described.kind === 'download'
    ? `for await (const line of (${call}).lines()) console.log(line);`
    : `console.log(${call});`;
}

const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
const code = (text) => `\`${text}\``;
/** A text of the document in one line, without what Markdown would read as HTML. */
const cell = (text) =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .replaceAll(/<(?=\w)/g, '&lt;');
const fence = (language, text) => `\`\`\`${language}\n${text}\n\`\`\`\n`;
const table = (head, rows) =>
  `${[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
