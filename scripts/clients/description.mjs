/**
 * Query parameters that the clients leave out: with them the operation answers as another one.
 * The others of the list are options of formats, which exportIndicators has.
 */
const LEFT_OUT = {
  listIndicators: [
    'format',
    'csvGuard',
    'style',
    'limit',
    'order',
    'collapse',
    'wildcards',
    'include',
    'group',
    'ids',
  ],
};

/**
 * Returns the schemas and operations of an OpenAPI document in the form from which clients are written.
 * @throws when the document has something that the clients cannot express
 */
export function readDescription(document) {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => readOperation(document, path, method, operation)),
  );
  // The clients throw errors of their own.
  const { Error: _, ...schemas } = document.components.schemas;
  return { version: document.info.version, schemas, operations };
}

function readOperation(document, path, method, operation) {
  const {
    operationId: id,
    summary,
    description,
    parameters = [],
    requestBody,
    responses,
    security,
  } = operation;
  const leftOut = LEFT_OUT[id] ?? [];
  const unknown = leftOut.filter((name) => !parameters.some((parameter) => parameter.name === name));
  if (unknown.length > 0) throw new Error(`${id} has no parameter ${unknown.join(', ')}`);
  const query = parameters.filter(
    (parameter) => parameter.in === 'query' && !leftOut.includes(parameter.name),
  );
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
    parameters.find((parameter) => parameter.in === 'path' && parameter.name === name),
  );
  const result = readResult(id, responses);
  const pageSize = result.kind === 'json' ? query.find(({ name }) => name === 'pageSize') : undefined;
  const isChangeFeed = query.some(({ name }) => name === 'cursor');
  for (const wanted of [pageSize, isChangeFeed])
    if (wanted && !id.startsWith('list')) throw new Error(`the id of ${id} must begin with "list"`);
  return {
    id,
    about: [summary, description].map((text) => text?.replace(/\.?$/, '.')).filter(Boolean),
    method: method.replace(/^x-/, '').toUpperCase(),
    path,
    inPath,
    query,
    body: requestBody ? Object.entries(requestBody.content) : null,
    ...result,
    isPublic: (security ?? document.security).length === 0,
    /** Of an operation that pages: the type of its items, and the most that a page may have. */
    paging: pageSize ? { items: itemsOf(document, result.type), most: pageSize.schema.maximum } : null,
    isChangeFeed,
  };
}

/**
 * - `json`: `type` is the name of its schema; responses of the other `statuses` have it too.
 * - `text`: `mediaType` is read whole.
 * - `download`: a file in a format, sent as it is written. Only files support ranges (206).
 */
function readResult(id, responses) {
  const content = responses[200].content;
  if (responses[206]) return { kind: 'download' };
  const type = nameOf(content['application/json']?.schema);
  if (type !== null) {
    const statuses = Object.entries(responses)
      .filter(
        ([status, { content }]) => status >= '400' && nameOf(content?.['application/json']?.schema) === type,
      )
      .map(([status]) => Number(status));
    return { kind: 'json', type, statuses };
  }
  const [mediaType, ...others] = Object.keys(content);
  if (others.length > 0 || content[mediaType].schema.type !== 'string')
    throw new Error(`the response of ${id} has no name, and is not one text`);
  return { kind: 'text', mediaType };
}

function itemsOf(document, type) {
  const items = nameOf(document.components.schemas[type].properties.data.items);
  if (items === null) throw new Error(`the items of ${type} have no name`);
  return items;
}

/** Returns the name of the schema that a reference leads to; null: it is no reference. */
export function nameOf(schema) {
  return schema?.$ref?.replace('#/components/schemas/', '') ?? null;
}
