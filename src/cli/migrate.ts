import { Command } from 'commander';
import { print, withDatabase } from './dependencies.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to this version (a server does it at its start, too)')
    .action(() => withDatabase(async () => print('The database is up to date.'), { createsTables: true }));
}
