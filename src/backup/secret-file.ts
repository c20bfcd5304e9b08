import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { SECRET_FILE } from '../db/embedded/leftovers.ts';

/** Secrets have at least so many characters. */
export const MIN_SECRET = 32;

/** Returns the path of the secret of an embedded database. */
export const secretPath = (dataDirectory: string) => join(dataDirectory, SECRET_FILE);

/**
 * Returns the secret in the data directory; null: there is none.
 * @throws {ConfigError} when the file has too few characters, as after a crash or a failed copy
 */
export async function findSecret(dataDirectory: string): Promise<string | null> {
  const path = secretPath(dataDirectory);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  const secret = text?.trim() ?? null;
  if (secret !== null && secret.length < MIN_SECRET)
    throw new ConfigError(`${path} holds no secret: it must have at least ${MIN_SECRET} characters`);
  return secret;
}
