import { text as readAll } from 'node:stream/consumers';
import { UsageError } from './usage-error.ts';

export interface CredentialOptions {
  key?: string;
  header?: readonly string[];
  basic?: string;
  withoutCredentials?: boolean;
}

/**
 * The headers that credential options mean. What stands on a command line can be read by others on the machine: `-`
 * takes it from standard input.
 * @param keyHeader the header that a key of this kind goes into
 * @returns undefined: nothing is said; null: none
 * @throws when they contradict each other
 */
export async function readCredentials(
  options: CredentialOptions,
  keyHeader: string | null,
): Promise<Record<string, string> | null | undefined> {
  const { key, header, basic, withoutCredentials } = options;
  const isGiven = key !== undefined || header !== undefined || basic !== undefined;
  if (withoutCredentials && isGiven)
    throw new UsageError('--without-credentials and --key, --header or --basic exclude each other.');
  if (withoutCredentials) return null;
  if (!isGiven) return undefined;
  if (key !== undefined && keyHeader === null)
    throw new UsageError('This kind has no header of its own for a key: use --header or --basic.');
  const headers = (header ?? []).map(splitHeader);
  if (key !== undefined && keyHeader !== null) headers.push([keyHeader, await orStandardInput(key, 'key')]);
  if (basic !== undefined) {
    const given = await orStandardInput(basic, 'user:password');
    if (!given.includes(':')) throw new UsageError('--basic is written as user:password.');
    const encoded = Buffer.from(given, 'utf8').toString('base64');
    headers.push(['authorization', `Basic ${encoded}`]);
  }
  return Object.fromEntries(headers);
}

function splitHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(\S.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError('A --header is written as "Name: value".');
  return [name.toLowerCase(), value];
}

/** What was given, or for `-` the first line of standard input. */
export async function orStandardInput(given: string, what: string): Promise<string> {
  if (given !== '-') return given;
  const [line = ''] = (await readAll(process.stdin)).split(/\r?\n/);
  if (line.trim() === '') throw new UsageError(`Standard input must hold the ${what}; it is empty.`);
  return line.trim();
}
