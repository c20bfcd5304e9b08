import { type Config, readConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/open.ts';

/** Runs a command on the database, alone or through the server that holds it. */
export async function withDatabase<T>(use: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig();
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDirectory: config.dataDirectory,
    share: true,
    onIdleError: () => {},
  });
  try {
    return await use(database, config);
  } finally {
    await database.close();
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
