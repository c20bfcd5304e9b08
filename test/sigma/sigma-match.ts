import ipaddr from 'ipaddr.js';

/** A log event by the field names of its log source. */
export type LogEvent = Readonly<Record<string, string | number>>;

export type Detection = Readonly<{ condition: string } & Record<string, unknown>>;

/** Whether a Sigma detection matches an event, by the specification 2.0; modifiers that no rule of ours uses throw. */
export function matches(detection: Detection, event: LogEvent): boolean {
  const tokens = detection.condition.match(/[()]|(?:1|all) of [a-z_]+\*|[a-z_]+/g) ?? [];
  const holds = (name: string) => selectionHolds(detection[name], event);
  const names = (pattern: string) =>
    Object.keys(detection).filter((name) => name !== 'condition' && name.startsWith(pattern.slice(0, -1)));

  function either(): boolean {
    let result = both();
    while (tokens[0] === 'or') {
      tokens.shift();
      result = both() || result;
    }
    return result;
  }
  function both(): boolean {
    let result = one();
    while (tokens[0] === 'and') {
      tokens.shift();
      result = one() && result;
    }
    return result;
  }
  function one(): boolean {
    const token = String(tokens.shift());
    if (token === 'not') return !one();
    if (token === '(') {
      const result = either();
      tokens.shift();
      return result;
    }
    if (token.startsWith('1 of ')) return names(token.slice('1 of '.length)).some(holds);
    if (token.startsWith('all of ')) return names(token.slice('all of '.length)).every(holds);
    return holds(token);
  }
  return either();
}

function selectionHolds(selection: unknown, event: LogEvent): boolean {
  if (Array.isArray(selection)) return selection.some((member) => selectionHolds(member, event));
  return Object.entries(selection as object).every(([key, value]) => {
    const [field = '', ...modifiers] = key.split('|');
    const values = Array.isArray(value) ? value : [value];
    const test = (wanted: unknown) => valueMatches(event[field], wanted, modifiers);
    return modifiers.includes('all') ? values.every(test) : values.some(test);
  });
}

function valueMatches(actual: string | number | undefined, wanted: unknown, modifiers: string[]): boolean {
  if (wanted === null || actual === undefined) return wanted === null && actual === undefined;
  if (typeof wanted !== 'string') return actual === wanted;
  if (modifiers.includes('cidr')) return inNetwork(String(actual), wanted);
  let patterns = [wanted];
  let [before, after] = ['', ''];
  for (const modifier of modifiers) {
    if (modifier === 'windash') patterns = patterns.flatMap(dashes);
    else if (modifier === 'wide') patterns = patterns.map((text) => text.replace(/./gs, '$&\0'));
    else if (modifier === 'base64offset') patterns = patterns.flatMap(base64Offsets);
    else if (modifier === 'contains') [before, after] = ['*', '*'];
    else if (modifier === 'startswith') after = '*';
    else if (modifier === 'endswith') before = '*';
    else if (modifier !== 'all') throw new Error(`modifier ${modifier}`);
  }
  return patterns.some((pattern) => asRegExp(before, pattern, after).test(String(actual)));
}

/** Wildcards `*` and `?`; a backslash takes the meaning from a wildcard or a backslash that follows it, only. */
function asRegExp(before: string, pattern: string, after: string): RegExp {
  const source = pattern.replace(/\\[*?\\]|[*?]|[\\^$.|+()[\]{}]/g, (part) => {
    if (part === '*') return '.*';
    if (part === '?') return '.';
    return `\\${part.at(-1)}`;
  });
  return new RegExp(`^${before && '.*'}${source}${after && '.*'}$`, 'is');
}

const dashes = (text: string) => ['-', '/', '–', '—', '―'].map((dash) => text.replace(/\B-\b/, dash));

function base64Offsets(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(' '.repeat(offset) + text, 'latin1').toString('base64');
    return encoded.slice([0, 2, 3][offset], [undefined, -3, -2][(text.length + offset) % 3]);
  });
}

function inNetwork(address: string, network: string): boolean {
  const [parsed, range] = [ipaddr.parse(address), ipaddr.parseCIDR(network)];
  return parsed.kind() === range[0].kind() && parsed.match(range);
}
