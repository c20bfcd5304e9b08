import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import type { Config } from '../config/settings.ts';

export type SecretSettings = Pick<Config, 'secret' | 'databaseUrl' | 'dataDirectory'>;

/**
 * What signs and encrypts: TIPLINE_SECRET, or, with the embedded database, one that is made beside it at first need,
 * for this user alone.
 * @throws {ConfigError} with PostgreSQL, where all nodes must have the same one
 */
export async function readSecret(config: SecretSettings): Promise<string> {
  if (config.secret) return config.secret;
  if (config.databaseUrl) throw new ConfigError('TIPLINE_SECRET must be set when DATABASE_URL is');
  const path = join(config.dataDirectory, 'secret');
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 });
  if (!existsSync(path)) await makeSecret(path);
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret.length < 32)
    throw new ConfigError(`${path} holds no secret: it must have at least 32 characters`);
  return secret;
}

/** Whole or not at all; of two processes that start at once one makes it, and both read that. */
async function makeSecret(path: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
}
