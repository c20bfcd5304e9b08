import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import type { Config } from '../config/settings.ts';

export type SecretSettings = Pick<Config, 'secret' | 'databaseUrl' | 'dataDirectory'>;

/**
 * Returns the secret for signing and encryption: TIPLINE_SECRET or, with the embedded database, a secret that is
 * generated in the data directory at first use, readable by this user only.
 * @throws {ConfigError} when it is not set with PostgreSQL, where all nodes must have the same secret, or when the
 *   stored secret is too short
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

/** Creates the file atomically: of two processes that start at the same time, both read the file of the first. */
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
