import { Command } from 'commander';
import { print } from './output.ts';
import { withDatabase } from './store.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('migrate the database to this version (servers and workers do it at startup)')
    .action(() => withDatabase(async () => print('The database is up to date.'), { schema: 'migrate' }));
}
