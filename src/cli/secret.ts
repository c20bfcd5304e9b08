import { hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { findSecret, secretPath } from '../backup/secret-file.ts';
import { ConfigError } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { flush } from '../db/embedded/flush.ts';
import { type SecretBox, secretBox } from '../secrets/secret-box.ts';
import { readHidden } from './hidden-input.ts';
import { UsageError } from './options.ts';

export type SecretSettings = Pick<Config, 'secret' | 'databaseUrl' | 'dataDirectory'>;

/**
 * Returns the secret for signing and encryption: TIPLINE_SECRET or, with the embedded database, a secret that is
 * generated in the data directory at first use, readable by this user only.
 * @throws {ConfigError} when it is not set with PostgreSQL, where all nodes must have the same secret, or when the
 *   stored secret is too short
 */
async function readSecret(config: SecretSettings): Promise<string> {
  if (config.secret) return config.secret;
  if (config.databaseUrl) throw new ConfigError('TIPLINE_SECRET must be set when DATABASE_URL is');
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 });
  const found = await findSecret(config.dataDirectory);
  if (found !== null) return found;
  await makeSecret(secretPath(config.dataDirectory));
  return readSecret(config);
}

/** Creates the file atomically: of two processes that start at the same time, both read the file of the first. */
async function makeSecret(path: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, path);
    flush(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
}

export interface CredentialOptions {
  key?: string;
  header?: readonly string[];
  basic?: string;
  withoutCredentials?: boolean;
}

/**
 * Returns the headers that the credential options specify. Other users of the machine can read command lines,
 * so `-` reads a credential from standard input.
 * @param keyHeader the header for an API key; null: this kind of source has none
 * @returns undefined: no option is given; null: the credentials are to be removed
 * @throws {UsageError} when options contradict each other or are malformed
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

/**
 * Returns the given value, or the first line of standard input for `-`. If that is a terminal, asks for it and does not
 * show it.
 * @throws {UsageError} when the line is empty
 */
export async function orStandardInput(given: string, what: string): Promise<string> {
  if (given !== '-') return given;
  const [line = ''] = process.stdin.isTTY
    ? [await readHidden(`${what.charAt(0).toUpperCase()}${what.slice(1)}: `)]
    : (await readAll(process.stdin)).split(/\r?\n/);
  if (line.trim() === '') throw new UsageError(`Standard input must hold the ${what}; it is empty.`);
  return line.trim();
}

/**
 * Returns the key that encrypts second factors, webhooks, cursors and the cookie of a sign-in at the provider. It is derived, so that
 * these reveal nothing about other keys.
 */
export async function sessionSecret(config: SecretSettings): Promise<string> {
  const key = hkdfSync('sha256', await readSecret(config), 'tipline', 'sessions', 32);
  return Buffer.from(key).toString('base64url');
}

/** Returns the encryption of stored credentials; sources and providers have separate keys. */
export async function openSecrets(
  config: SecretSettings,
): Promise<Record<'sources' | 'providers', SecretBox>> {
  const secret = await readSecret(config);
  return { sources: secretBox(secret, 'source credentials'), providers: secretBox(secret, 'provider keys') };
}
