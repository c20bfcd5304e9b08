import { inject } from 'vitest';
import { freshPostgresUrl } from './engines.ts';

export const hasPostgres = inject('postgresUrl') !== null;
export const hasRedis = inject('redisUrl') !== null;

/** Settings of a node on PostgreSQL. */
export function nodeSettings(databaseUrl: string, settings: Record<string, string> = {}) {
  return { DATABASE_URL: databaseUrl, TIPLINE_SECRET: 'a secret of the tests, long enough', ...settings };
}

/** A new, empty database of the run's PostgreSQL. @param options of `create database` */
export async function freshDatabase(options?: string) {
  return freshPostgresUrl(inject('postgresUrl') ?? '', options);
}
