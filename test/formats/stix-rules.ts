/** What the JSON schemas of STIX 2.1 cannot say of a bundle, in the words of the standard; empty: nothing is wrong. */

interface StixLike {
  type: string;
  id: string;
  [property: string]: unknown;
}

const UUID = /--[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TIMES = /^(created|modified|valid_from|valid_until|(first|last)_(seen|observed)|expires_at)$/;
/** The second not before the first; `valid_until` not at the same time either. */
const SPANS: [string, string][] = [
  ['created', 'modified'],
  ['first_seen', 'last_seen'],
  ['first_observed', 'last_observed'],
];

/** @param elsewhere ids of objects that a consumer has from their publisher */
export function bundleProblems(text: string, elsewhere: readonly string[] = []): string[] {
  const { type, id, objects, ...others } = JSON.parse(text) as {
    type: string;
    id: string;
    objects: StixLike[];
  };
  const problems = Object.keys(others).map((name) => `bundle has ${name}`);
  if (type !== 'bundle' || !/^bundle--/.test(id) || !UUID.test(id)) problems.push('bundle without id');
  const ids = new Set(objects.map((object) => object.id));
  if (ids.size < objects.length) problems.push('two objects with one id');
  return [
    ...problems,
    ...objects.flatMap((object) =>
      objectProblems(object, new Set([...ids, ...elsewhere])).map((it) => `${object.id}: ${it}`),
    ),
  ];
}

function objectProblems(object: StixLike, ids: ReadonlySet<string>): string[] {
  const problems = valueProblems(object, ids);
  const check = (isRight: boolean, problem: string) => isRight || problems.push(problem);
  check(object.id.startsWith(`${object.type}--`) && UUID.test(object.id), 'id not of its type');
  check(object.spec_version === '2.1', 'no spec_version');
  check(!Object.keys(object).some((name) => name.startsWith('x_')), 'a custom property');
  for (const [first, last] of SPANS) check(!isBefore(object[last], object[first]), `${last} before ${first}`);
  if (object.type === 'indicator') {
    // A rule in another language has the id of its source.
    const isObservable = JSON.stringify(object.extensions ?? '').includes('"observable_type"');
    check(!isObservable || /^[^-]+--.{14}5/.test(object.id), 'id is not a UUIDv5');
    check(object.valid_until === undefined || isBefore(object.valid_from, object.valid_until), 'valid_until');
  }
  const isMarkable = !['marking-definition', 'extension-definition', 'identity'].includes(object.type);
  const markings = (object.object_marking_refs ?? []) as unknown[];
  check(!isMarkable || markings.length === 1, 'not exactly one marking');
  return problems;
}

function isBefore(a: unknown, b: unknown): boolean {
  return typeof a === 'string' && typeof b === 'string' && a < b;
}

function valueProblems(value: unknown, ids: ReadonlySet<string>, name = ''): string[] {
  if (value === null) return [`${name} is null`];
  if (/_refs?$/.test(name) && typeof value === 'string' && !ids.has(value))
    return [`${name} leads nowhere: ${value}`];
  if (TIMES.test(name) && !INSTANT.test(String(value))) return [`${name} is no timestamp`];
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${name} is empty`];
    return value.flatMap((item) => valueProblems(item, ids, name));
  }
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => valueProblems(inner, ids, key));
}
