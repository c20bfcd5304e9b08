import { nameOf } from './description.mjs';
import { wrap } from './text.mjs';

const HEAD = '# Written by scripts/clients.mjs from openapi/openapi.json: npm run openapi.\n';
const SCALARS = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };
/** Names that a class or parameter cannot have. */
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** Returns the module with a type for each schema. Syntax and typing are those of Python 3.9. */
export function pythonTypes({ schemas }) {
  /** Aliases are evaluated when the module is loaded, so classes stand before them. */
  const [literals, classes, aliases] = [[], [], []];
  for (const [name, schema] of Object.entries(schemas)) {
    if (schema.enum) literals.push(`${comment(schema.description)}${name} = ${typeOf(schema)}\n`);
    else if (isClass(schema)) typedDict(name, schema, classes);
    else aliases.push(`${comment(schema.description)}${name} = ${typeOf(schema, name, classes)}\n`);
  }
  return `${HEAD}"""The documents of the API, as dictionaries."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

${literals.join('\n')}

${classes.join('\n\n')}

${aliases.join('\n')}`;
}

const isClass = ({ type, properties }) => type === 'object' && Object.keys(properties ?? {}).length > 0;
const isName = (text) => /^[A-Za-z_]\w*$/.test(text) && !KEYWORDS.has(text);

/**
 * Returns the type of a schema.
 * @param name of a class for a nested object, which is added to `classes`
 */
function typeOf(schema, name, classes) {
  const reference = nameOf(schema);
  if (reference !== null) return reference;
  if (schema.anyOf) return union(schema.anyOf.map((one) => typeOf(one, name + variantOf(one), classes)));
  if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
  if (schema.enum)
    return `Literal[${schema.enum.map((value) => (value === null ? 'None' : JSON.stringify(value))).join(', ')}]`;
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => typeOf({ ...schema, type }, name, classes)));
  if (schema.type === 'array') return `List[${typeOf(schema.items, name?.replace(/s$/, ''), classes)}]`;
  if (isClass(schema)) {
    typedDict(name, schema, classes);
    return name;
  }
  if (schema.type === 'object') {
    const values = schema.additionalProperties;
    return `Dict[str, ${typeof values === 'object' ? typeOf(values, `${name}Value`, classes) : 'Any'}]`;
  }
  // A schema without a type allows any value.
  if (schema.type === undefined) return 'Any';
  const scalar = SCALARS[schema.type];
  if (!scalar) throw new Error(`no Python type for ${JSON.stringify(schema)}`);
  return scalar;
}

function union(types) {
  const others = types.filter((type) => type !== 'None');
  const one = others.length === 1 ? others[0] : `Union[${others.join(', ')}]`;
  return others.length < types.length ? `Optional[${one}]` : one;
}

/** Names one of several objects: a change by its `op`, upsert or remove; others by their first key. */
function variantOf({ properties }) {
  const [value] = properties?.op?.enum ?? Object.keys(properties ?? {});
  return value ? pascal(value) : '';
}

/** Adds a class. Keys that may be missing are those of a class that inherits the others: NotRequired came with Python 3.11. */
function typedDict(name, schema, classes) {
  const fields = Object.entries(schema.properties).map(([key, property]) => ({
    key,
    isRequired: schema.required?.includes(key),
    description: property.description,
    type: typeOf(property, name + pascal(key), classes),
  }));
  const unfit = fields.find(({ key }) => !isName(key));
  if (unfit) throw new Error(`${name}: ${unfit.key} is no name in Python`);
  const required = fields.filter(({ isRequired }) => isRequired);
  const optional = fields.filter(({ isRequired }) => !isRequired);
  const about = docstring(schema.description ? [schema.description] : [], '    ');
  const lines = (some) =>
    some.map(({ key, description, type }) => `${comment(description, '    ')}    ${key}: ${type}\n`).join('');
  if (optional.length === 0) classes.push(`class ${name}(TypedDict):\n${about}${lines(required)}`);
  else if (required.length === 0)
    classes.push(`class ${name}(TypedDict, total=False):\n${about}${lines(optional)}`);
  else
    classes.push(
      `class _${name}Required(TypedDict):\n${lines(required)}`,
      `class ${name}(_${name}Required, total=False):\n${about}${lines(optional)}`,
    );
}

/** Returns the module with a method for each operation. */
export function pythonOperations({ version, operations }) {
  const methods = operations.flatMap((operation) => [
    method(operation),
    ...(operation.paging ? [iterating(operation)] : []),
    ...(operation.following ? [following(operation)] : []),
  ]);
  const text = methods.join('\n');
  const names = new Set(
    operations.flatMap(({ type, query, inPath, paging }) => [
      ...(type ? [type] : []),
      ...(paging?.items ? [paging.items] : []),
      ...[...query, ...inPath].map(({ schema }) => nameOf(schema.items ?? schema)).filter(Boolean),
    ]),
  );
  const typing = [
    'Any',
    'Dict',
    'Iterator',
    'List',
    'Literal',
    'Optional',
    'Sequence',
    'Union',
    'cast',
  ].filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return `${HEAD}"""A method for each operation of the API."""

from __future__ import annotations

from typing import ${typing.join(', ')}

from ._iterate import follow, items
from ._transport import Cache, Transport, segment
from .download import Download
from .types import (
${[...names]
  .sort()
  .map((name) => `    ${name},\n`)
  .join('')})

#: The version of the API that this client was written for.
VERSION = ${JSON.stringify(version)}


class Operations:
    """A method for each operation of the API, named by its \`\`operationId\`\`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

${text}`;
}

const OPTIONS = {
  json: [{ name: 'cache', type: 'Optional[Cache] = None' }],
  text: [{ name: 'cache', type: 'Optional[Cache] = None' }],
  download: [{ name: 'if_none_match', type: 'Optional[str] = None' }],
};

function method(operation) {
  const { id, about, method, path, inPath, query, body, kind, type, statuses, mediaType, isPublic } =
    operation;
  const returned = { json: type, text: 'str', download: 'Download' }[kind];
  const passed = [
    pathOf(operation),
    ...(method === 'GET' ? [] : [`method="${method}"`]),
    ...(query.length > 0
      ? [`query={${query.map(({ name }) => `"${name}": ${snake(name)}`).join(', ')}}`]
      : []),
    ...(body ? ['body=body'] : []),
    ...(mediaType ? [`accept="${mediaType}"`] : []),
    ...(statuses?.length > 0 ? [`statuses=[${statuses}]`] : []),
    ...(isPublic ? ['is_public=True'] : []),
    ...OPTIONS[kind].map(({ name }) => `${name}=${name}`),
  ];
  const call = `self._transport.${kind}(\n${lines(passed, 12)}        )`;
  const documented = [...inPath, ...query].filter(({ description }) => description);
  return `${signature(operation, snake(id), [...query.map(parameter), ...OPTIONS[kind]], returned)}
${docstring(
  [
    ...about,
    '',
    `${method} ${path}`,
    ...(documented.length > 0 ? [''] : []),
    ...documented.map(({ name, description }) => `:param ${snake(name)}: ${description}`),
  ],
  '        ',
)}        return ${kind === 'json' ? `cast(${type}, ${call})` : call}
`;
}

function iterating(operation) {
  const { id, inPath, query, paging } = operation;
  const others = query.filter(({ name }) => name !== 'page');
  const parameters = others.map((one) =>
    one.name === 'pageSize' ? { name: 'page_size', type: `int = ${paging.most}` } : parameter(one),
  );
  const passed = [
    ...inPath.map(({ name }) => snake(name)),
    'page=page',
    ...[...parameters, ...OPTIONS.json].map(({ name }) => `${name}=${name}`),
  ];
  return `${signature(operation, snake(paging.name), [...parameters, ...OPTIONS.json], `Iterator[${itemsOf(paging)}]`)}
${docstring(
  [
    `Yields the items of all pages of :meth:\`${snake(id)}\`.`,
    'While data changes, an item may be on two pages or on none: an export or the change feed is exact.',
  ],
  '        ',
)}        return cast(Iterator[${itemsOf(paging)}], items(lambda page: self.${snake(id)}(
${lines(passed, 12)}        )))
`;
}

function following(operation) {
  const { id, inPath, query, type, following } = operation;
  const others = query.filter(({ name }) => name !== 'cursor' && name !== 'wait');
  const parameters = [
    ...others.map(parameter),
    { name: 'cursor', type: 'Optional[str] = None' },
    { name: 'wait', type: 'int = 30' },
  ];
  const passed = [
    ...inPath.map(({ name }) => snake(name)),
    ...others.map(({ name }) => `${snake(name)}=${snake(name)}`),
    'cursor=position',
    'wait=wait',
  ];
  return `${signature(operation, snake(following.name), parameters, `Iterator[${type}]`)}
${docstring(
  [
    `Yields the responses of :meth:\`${snake(id)}\`: first all pages, then changes as they come.`,
    'Store the ``cursor`` of each together with its changes, and begin with ``cursor`` after a restart. While ``hasMore`` is true, the copy is not complete. With ``wait=0`` it ends when the copy is complete; otherwise it waits for changes, ``wait`` seconds a request.',
    '',
    ':raises TiplineError: with the status 400, 409 or 410 when the cursor cannot be used: begin without one, and replace the copy',
  ],
  '        ',
)}        return cast(Iterator[${type}], follow(self._transport, cursor, wait, lambda position: self.${snake(id)}(
${lines(passed, 12)}        )))
`;
}

function signature({ inPath, body }, name, parameters, returned) {
  const positional = inPath.map(({ name, schema }) => `${snake(name)}: ${typeOf(schema)}`);
  if (body) positional.push(`body: ${bodyType(body)}`);
  const named = parameters.map(({ name, type }) => `${name}: ${type}`);
  const all = ['self', ...positional, ...(named.length > 0 ? ['*'] : []), ...named];
  return `    def ${name}(\n${lines(all, 8)}    ) -> ${returned}:`;
}

/** A parameter as the caller gives it: any sequence for a list. */
function parameter({ name, required, schema }) {
  const type = schema.type === 'array' ? `Sequence[${typeOf(schema.items)}]` : typeOf(schema);
  return { name: snake(name), type: required ? type : `Optional[${type}] = None` };
}

/** A text is sent as text/plain, a dictionary as JSON. */
const bodyType = (content) =>
  `Union[${content
    .map(([, { schema }]) =>
      schema.type === 'object'
        ? `Dict[str, ${Object.values(schema.properties).map((one) => typeOf(one))}]`
        : typeOf(schema),
    )
    .join(', ')}]`;

const pathOf = ({ path, inPath }) =>
  inPath.length === 0
    ? `"${path}"`
    : `f"${path.replaceAll(/\{(\w+)\}/g, (_, name) => `{segment(${snake(name)})}`)}"`;

/** Such as min_confidence of minConfidence, match_type of match[type] and from_ of from. */
export function snake(name) {
  const text = name
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replaceAll(/\W+/g, '_')
    .replace(/_$/, '');
  return isName(text) ? text : `${text}_`;
}

const itemsOf = ({ items }) => items ?? 'Dict[str, Any]';

const pascal = (text) => text[0].toUpperCase() + text.slice(1);
const lines = (texts, spaces) => texts.map((text) => `${' '.repeat(spaces)}${text},\n`).join('');
const comment = (text, indent = '') =>
  text
    ? wrap(text, `${indent}# `)
        .map((line) => `${indent}# ${line}\n`)
        .join('')
    : '';

function docstring(texts, indent) {
  if (texts.length === 0) return '';
  const all = texts.flatMap((text) => wrap(text, indent)).map((line) => line.replaceAll('\\', '\\\\'));
  const [first, ...others] = all;
  if (others.length === 0) return `${indent}"""${first}"""\n\n`;
  return `${indent}"""${first}\n${others.map((line) => `${indent}${line}`.trimEnd()).join('\n')}\n${indent}"""\n\n`;
}
