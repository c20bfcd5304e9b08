// What differs between the OpenAPI documents of two releases (docs/versions.md says what each kind means for clients).
import { apiDiff } from 'api-smart-diff';

/** The kinds of differences, in the order of the notes. */
const KINDS = {
  breaking: 'Breaks clients',
  deprecated: 'Deprecated',
  values: 'New values in responses',
  compatible: 'Compatible',
};

/**
 * Compares two OpenAPI documents. Descriptions and examples are left out, and components: the operations that use them
 * are listed.
 * @returns {Record<keyof KINDS, string[]>} a line for people for each difference, in the order of the operations
 */
export function apiDifference(before, after) {
  const difference = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Set()]));
  for (const change of apiDiff(before, after)) {
    const [first, url, method, ...place] = change.path;
    if (first !== 'paths' || change.type === 'annotation' || isInExample(place)) continue;
    const operation = [method?.replace(/^x-/, '').toUpperCase(), url].filter(Boolean).join(' ');
    const { parameters } = before.paths[url]?.[method] ?? {};
    difference[kindOf(change)].add(`${operation}: ${describe(change, place, parameters)}`);
  }
  return Object.fromEntries(Object.entries(difference).map(([kind, lines]) => [kind, [...lines]]));
}

const isInExample = (place) => place.some((name) => name === 'example' || name === 'examples');

function kindOf({ type, path, action, before, after }) {
  if (path[3] === 'responses') {
    if (action === 'add' && path.at(-2) === 'enum') return 'values';
    // Clients may use a member that is not required, too.
    if (action === 'remove' && path.at(-2) === 'properties') return 'breaking';
    // The comparison takes an integer for a kind of string, which it is in a URL only.
    if (action === 'replace' && path.at(-1) === 'type' && !isSubset(after, before)) return 'breaking';
  }
  if (type === 'deprecated') return 'deprecated';
  return type === 'non-breaking' ? 'compatible' : 'breaking';
}

const isSubset = (types, others) => [types].flat().every((type) => [others].flat().includes(type));

const ACTIONS = { add: 'added', remove: 'removed', replace: 'changed', rename: 'renamed' };

function describe({ action, before, after }, place, parameters) {
  const values = action === 'replace' && isShort(before) && isShort(after) ? ` (${before} → ${after})` : '';
  return [...partOf(place, before ?? after, parameters), ACTIONS[action] + values].join(' ');
}

const isShort = (value) =>
  [value].flat().every((part) => typeof part !== 'object') && String(value).length <= 60;

/**
 * Returns the names of a part of an operation.
 * @param value the part
 * @param parameters those of the operation before
 */
function partOf(place, value, parameters) {
  const [kind, index, ...rest] = place;
  if (kind === 'parameters') {
    const { name } = rest.length === 0 ? value : parameters[index];
    return [`parameter \`${name}\``, ...(rest.length > 0 ? partOf(rest, value) : [])];
  }
  if (place.length === 0) return [];
  const isMember = typeof place.at(-1) === 'number' && typeof value === 'string';
  return isMember ? [`\`${place.slice(0, -1).join('.')}\``, `\`${value}\``] : [`\`${place.join('.')}\``];
}

/**
 * Returns the lowest version of the description that may follow another one (semver.org §4 to §8: below 1.0.0 a new minor
 * version may break clients).
 */
export function nextApiVersion(version, { breaking, deprecated, values, compatible }) {
  const [major, minor, patch] = version.split('.').map(Number);
  if (breaking.length > 0) return major > 0 ? `${major + 1}.0.0` : `0.${minor + 1}.0`;
  if (deprecated.length + values.length + compatible.length === 0) return version;
  return major > 0 ? `${major}.${minor + 1}.0` : `0.${minor}.${patch + 1}`;
}

/** Returns whether a version is the same as another one or later. */
export function isAtLeast(version, other) {
  const [ours, others] = [version, other].map((text) => text.split('.').map(Number));
  const place = ours.findIndex((number, i) => number !== others[i]);
  return place < 0 || ours[place] > others[place];
}

/** Returns the section of the release notes about the API, in Markdown. @param since the earlier release */
export function apiNotes(difference, since) {
  const parts = Object.entries(KINDS).flatMap(([kind, title]) => {
    const lines = difference[kind].map((line) => `- ${line}`);
    return lines.length > 0 ? [`### ${title}`, '', ...lines, ''] : [];
  });
  return [`## API, compared with ${since}`, '', ...(parts.length > 0 ? parts : ['No differences.', ''])].join(
    '\n',
  );
}
