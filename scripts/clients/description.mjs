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

/** Requests that change nothing, and may be repeated. */
const SAFE = ['GET', 'QUERY'];

/**
 * Returns the schemas and operations of an OpenAPI document in the form from which clients are written.
 * @throws when the document has something that the clients cannot express
 */
export function readDescription(document) {
  // The clients throw errors of their own.
  const { Error: _, ...schemas } = document.components.schemas;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
      readOperation(schemas, path, method, { security: document.security, ...operation }),
    ),
  );
  return { version: document.info.version, schemas, operations };
}

function readOperation(schemas, path, method, operation) {
  const {
    operationId: id,
    summary,
    description,
    parameters = [],
    requestBody,
    responses,
    security,
  } = operation;
  const verb = method.replace(/^x-/, '').toUpperCase();
  if (!SAFE.includes(verb)) throw new Error(`${id}: the clients send ${SAFE.join(' and ')} only`);
  const leftOut = LEFT_OUT[id] ?? [];
  const unknown = leftOut.filter((name) => !parameters.some((parameter) => parameter.name === name));
  if (unknown.length > 0) throw new Error(`${id} has no parameter ${unknown.join(', ')}`);
  const query = parameters.filter(
    (parameter) => parameter.in === 'query' && !leftOut.includes(parameter.name),
  );
  const result = readResult(schemas, id, responses);
  const { data, pageSize: sizeOfPage, total, changes, cursor } = schemas[result.type]?.properties ?? {};
  const pageSize = query.find(({ name }) => name === 'pageSize');
  const isPaged = pageSize && data && sizeOfPage && total;
  return {
    id,
    about: [summary, description].map((text) => text?.replace(/\.?$/, '.')).filter(Boolean),
    method: verb,
    path,
    inPath: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
      parameters.find((parameter) => parameter.in === 'path' && parameter.name === name),
    ),
    query,
    body: requestBody ? Object.entries(requestBody.content) : null,
    ...result,
    isPublic: security.length === 0,
    /** Of an operation that pages: the name of its iterator, the type of its items, and the most that a page may have. */
    paging: isPaged
      ? { name: nameWith('iterate', id), items: nameOf(data.items), most: pageSize.schema.maximum }
      : null,
    /** Of a change feed: the name of its iterator. */
    following: changes && cursor ? { name: nameWith('follow', id) } : null,
  };
}

/**
 * - `json`: `type` is the name of its schema, also where the document gives it none; responses of the other `statuses` have it too.
 * - `text`: `mediaType` is read whole.
 * - `download`: a file in one of several formats, or with ranges (206).
 */
function readResult(schemas, id, responses) {
  const { content } = responses[200];
  const mediaTypes = Object.keys(content);
  const isJson = (mediaType) => /^application\/(?:[\w.-]+\+)?json\b/.test(mediaType);
  if (responses[206]) return { kind: 'download' };
  const mediaType = mediaTypes.find(isJson);
  if (mediaType !== undefined) {
    const { schema } = content[mediaType];
    const type = nameOf(schema) ?? `${pascal(id)}Response`;
    schemas[type] ??= schema;
    const statuses = Object.entries(responses)
      .filter(([status, { content }]) => status >= '400' && nameOf(content?.[mediaType]?.schema) === type)
      .map(([status]) => Number(status));
    return { kind: 'json', type, statuses, ...(mediaType !== 'application/json' && { mediaType }) };
  }
  const isText = mediaTypes.length === 1 && /^text\/|\byaml\b/.test(mediaTypes[0]);
  return isText ? { kind: 'text', mediaType: mediaTypes[0] } : { kind: 'download' };
}

/** Returns the name of the schema that a reference leads to; null: it is no reference. */
export function nameOf(schema) {
  return schema?.$ref?.replace('#/components/schemas/', '') ?? null;
}

/** Such as iterateActors of listActors. */
const nameWith = (verb, id) => verb + pascal(id.replace(/^(?:list|get|read)(?=[A-Z])/, ''));
const pascal = (text) => text[0].toUpperCase() + text.slice(1);
