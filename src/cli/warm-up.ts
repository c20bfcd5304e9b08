import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { warmUp } from '../db/postgres/warm-up.ts';
import { UsageError } from './options.ts';
import { print } from './output.ts';
import { withDatabase } from './store.ts';

export function warmUpCommand(): Command {
  return new Command('warm-up')
    .description('read what details and contexts need into memory, after a restart of PostgreSQL')
    .option('--full-speed', 'do not rest after each read for as long as it took')
    .action(({ fullSpeed = false }: { fullSpeed?: boolean }) =>
      withDatabase(async ({ db, kind }) => {
        if (kind !== 'postgresql') throw new UsageError('Only PostgreSQL has a warm-up. Set DATABASE_URL.');
        await warmUp(db, {
          rest: async (ms) => void (fullSpeed || (await delay(ms))),
          onRelation: (name, bytes) => print(`${name}: ${Math.round(bytes / 1e6)} MB`),
        });
      }),
    );
}
