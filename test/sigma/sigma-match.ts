import ipaddr from 'ipaddr.js';

/** A log event by the field names of its log source. */
export type LogEvent = Readonly<Record<string, string | number>>;

export type Detection = Readonly<{ condition: string } & Record<string, unknown>>;

type Test = (event: LogEvent) => boolean;

/**
 * Returns the test of events that a Sigma detection describes, by the specification 2.0.
 * @throws Error if a modifier is not supported
 */
export function compile(detection: Detection): Test {
  const tests = new Map(
    Object.entries(detection)
      .filter(([name]) => name !== 'condition' && name !== 'timeframe')
      .map(([name, selection]) => [name, selectionTest(selection)]),
  );
  const tokens = detection.condition.match(/[()]|(?:\d+|all) of [\w-]+\*?|[\w-]+/g) ?? [];

  function either(): Test {
    const parts = [both()];
    while (tokens[0]?.toLowerCase() === 'or') {
      tokens.shift();
      parts.push(both());
    }
    return (event) => parts.some((test) => test(event));
  }
  function both(): Test {
    const parts = [one()];
    while (tokens[0]?.toLowerCase() === 'and') {
      tokens.shift();
      parts.push(one());
    }
    return (event) => parts.every((test) => test(event));
  }
  function one(): Test {
    const token = String(tokens.shift());
    if (token.toLowerCase() === 'not') {
      const inner = one();
      return (event) => !inner(event);
    }
    if (token === '(') {
      const inner = either();
      tokens.shift();
      return inner;
    }
    const [, count, pattern] = /^(\d+|all) of ([\w-]+\*?)$/.exec(token) ?? [];
    if (count === undefined || pattern === undefined) {
      const test = tests.get(token);
      if (!test) throw new Error(`condition names ${token}, which is not defined`);
      return test;
    }
    const chosen = [...tests].filter(([name]) => isCovered(pattern, name)).map(([, test]) => test);
    if (count === 'all') return (event) => chosen.every((test) => test(event));
    return (event) => chosen.filter((test) => test(event)).length >= Number(count);
  }
  return either();
}

const isCovered = (pattern: string, name: string) =>
  pattern === 'them' || pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));

function selectionTest(selection: unknown): Test {
  if (Array.isArray(selection)) {
    const members = selection.map(selectionTest);
    return (event) => members.some((test) => test(event));
  }
  if (typeof selection !== 'object' || selection === null) {
    const test = valueTest(selection, ['contains']);
    return (event) => Object.values(event).some((value) => test(value, event));
  }
  const fields = Object.entries(selection).map(([key, value]): Test => {
    const [field = '', ...modifiers] = key.split('|');
    const tests = (Array.isArray(value) ? value : [value]).map((wanted) => valueTest(wanted, modifiers));
    return modifiers.includes('all')
      ? (event) => tests.every((test) => test(event[field], event))
      : (event) => tests.some((test) => test(event[field], event));
  });
  return (event) => fields.every((test) => test(event));
}

type ValueTest = (actual: string | number | undefined, event: LogEvent) => boolean;

const COMPARISONS: Record<string, (actual: number, wanted: number) => boolean> = {
  gt: (actual, wanted) => actual > wanted,
  gte: (actual, wanted) => actual >= wanted,
  lt: (actual, wanted) => actual < wanted,
  lte: (actual, wanted) => actual <= wanted,
};

function valueTest(wanted: unknown, modifiers: readonly string[]): ValueTest {
  if (modifiers.includes('exists')) return (actual) => (actual !== undefined) === wanted;
  if (wanted === null) return (actual) => actual === undefined;
  const comparison = COMPARISONS[modifiers[0] ?? ''];
  if (comparison) return (actual) => actual !== undefined && comparison(Number(actual), Number(wanted));
  const text = String(wanted);
  if (modifiers.includes('cidr')) return (actual) => actual !== undefined && inNetwork(String(actual), text);
  if (modifiers.includes('fieldref'))
    return (actual, event) => actual !== undefined && String(actual) === String(event[text]);
  const patterns = modifiers.includes('re')
    ? [new RegExp(text, reFlags(modifiers))]
    : literals(text, modifiers);
  return (actual) => actual !== undefined && patterns.some((pattern) => pattern.test(String(actual)));
}

const reFlags = (modifiers: readonly string[]) =>
  ['i', 'm', 's'].filter((flag) => modifiers.includes(flag)).join('');

function literals(text: string, modifiers: readonly string[]): RegExp[] {
  let patterns = [text];
  let [before, after] = ['^', '$'];
  for (const modifier of modifiers) {
    if (modifier === 'windash') patterns = patterns.flatMap(dashes);
    else if (modifier === 'wide' || modifier === 'utf16le' || modifier === 'utf16')
      patterns = patterns.map((pattern) => pattern.replace(/./gs, '$&\0'));
    else if (modifier === 'base64')
      patterns = patterns.map((p) => Buffer.from(p, 'latin1').toString('base64'));
    else if (modifier === 'base64offset') patterns = patterns.flatMap(base64Offsets);
    else if (modifier === 'contains') [before, after] = ['', ''];
    else if (modifier === 'startswith') after = '';
    else if (modifier === 'endswith') before = '';
    else if (modifier !== 'all' && modifier !== 'cased') throw new Error(`modifier ${modifier}`);
  }
  const flags = modifiers.includes('cased') ? 's' : 'is';
  return patterns.map((pattern) => new RegExp(`${before}${wildcards(pattern)}${after}`, flags));
}

/** Wildcards `*` and `?`; a backslash takes the meaning from a wildcard or a backslash that follows it, only. */
const wildcards = (pattern: string) =>
  pattern.replace(/\\[*?\\]|[*?]|[\\^$.|+()[\]{}]/g, (part) => {
    if (part === '*') return '.*';
    if (part === '?') return '.';
    return `\\${part.at(-1)}`;
  });

const dashes = (text: string) => ['-', '/', '–', '—', '―'].map((dash) => text.replace(/\B-\b/, dash));

function base64Offsets(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(' '.repeat(offset) + text, 'latin1').toString('base64');
    return encoded.slice([0, 2, 3][offset], [undefined, -3, -2][(text.length + offset) % 3]);
  });
}

function inNetwork(address: string, network: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const [parsed, range] = [ipaddr.parse(address), ipaddr.parseCIDR(network)];
  return parsed.kind() === range[0].kind() && parsed.match(range);
}
