import { resolve } from 'node:path';
import { Command } from 'commander';
import { moveStore } from '../backup/move-store.ts';
import { findSecret, MIN_SECRET, secretPath } from '../backup/secret-file.ts';
import { readConfig } from '../config/config.ts';
import { SETTINGS } from '../config/settings.ts';
import { cliActor } from './actor.ts';
import { UsageError } from './options.ts';
import { print } from './output.ts';
import { orStandardInput } from './secret.ts';
import { requireStore, storeName } from './store.ts';

export function moveCommand(): Command {
  return new Command('move')
    .description('move the embedded database to an empty database in PostgreSQL; no server may run')
    .requiredOption(
      '--to <url>',
      'postgres://user:password@host/database; - reads it from standard input, as others can read command lines',
    )
    .action(async ({ to }: { to: string }) => {
      const config = readConfig();
      const given = await orStandardInput(to, 'URL of the database');
      const url = SETTINGS.databaseUrl.kind.parse(given);
      if (url === null) throw new UsageError(`--to must be ${SETTINGS.databaseUrl.kind.allowed}.`);
      const from = resolve(config.dataDirectory);
      requireStore({ ...config, databaseUrl: undefined });
      process.stderr.write(`Store: ${from}\n`);
      const toName = storeName({ ...config, databaseUrl: url });
      const secret = await describeSecret(config.secret, from);
      const { indicators, revision } = await moveStore({ from, to: url, toName, by: cliActor() });
      print(`Moved ${indicators} indicators at revision ${revision} to ${toName}.`);
      print(`Start servers with DATABASE_URL set to it, and TIPLINE_SECRET to ${secret}.`);
      print(`${from} is kept, but not opened any more. Delete its pgdata once the new store is in use.`);
    });
}

/** Returns which secret the servers of the moved store need. */
async function describeSecret(set: string | undefined, dataDirectory: string): Promise<string> {
  if (set !== undefined) return 'what it is now';
  return (await findSecret(dataDirectory)) === null
    ? `any random text of at least ${MIN_SECRET} characters, as the store has no secret yet`
    : `the content of ${secretPath(dataDirectory)}`;
}
