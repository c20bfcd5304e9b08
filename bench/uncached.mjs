// Uncached lists, and as their limit the same statements in pgbench.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Kysely } from 'kysely';
import { listIndicators, postgresDialect } from '../dist/bench.js';
import { integer, oneOf, seededRandom } from './random.mjs';
import * as servers from './servers.mjs';

const run = promisify(execFile);
const TYPES = ['IPV4', 'DOMAIN', 'URL', 'SHA256', 'MD5'];
const SEVERITIES = ['LOW', 'MEDIUM', 'HIGH'];
const PAGE_SIZE = 100;
const MAX_PAGE = 20;
/** More than a row of the table requests, so that none of its lists is requested twice. */
const LISTS = 20_000;
/** pgbench prepares the statements of each file on each connection; with few files that takes little of the run. */
const SAMPLES = 24;

/** Returns lists with distinct filters and pages in random order. */
export function distinctLists() {
  const random = seededRandom(11);
  const all = new Map();
  while (all.size < LISTS) {
    const filters = { type: oneOf(random, TYPES), minConfidence: integer(random, 0, 90) };
    if (random() < 0.75) filters.severity = oneOf(random, SEVERITIES);
    const page = integer(random, 1, MAX_PAGE);
    const query = new URLSearchParams({ ...filters, page, pageSize: PAGE_SIZE });
    all.set(String(query), { filters, page, path: `/api/v1/indicators?${query}` });
  }
  return [...all.values()];
}

/**
 * Writes the statements of each list of a sample to a file for pgbench.
 * @returns the arguments for pgbench: the files and the parameters
 */
export async function pgbenchFiles(databaseUrl, sample) {
  const queries = [];
  const db = new Kysely({
    dialect: postgresDialect({ url: databaseUrl, maxConnections: 1, onIdleError: () => {} }),
    log: ({ query }) => queries.push(query),
  });
  const directory = servers.temporaryDirectory();
  const fileArguments = [];
  const principal = { tlpCeiling: 'RED', now: new Date() };
  for (const [i, { filters, page }] of sample.slice(0, SAMPLES).entries()) {
    queries.length = 0;
    await listIndicators(db, principal, filters, { page, pageSize: PAGE_SIZE });
    const file = join(directory, `${i}.sql`);
    const statements = queries.map(({ sql, parameters }, index) => {
      const name = (position) => `p${i}_${index}_${position}`;
      for (const [position, value] of parameters.entries())
        fileArguments.push(
          '-D',
          `${name(position + 1)}=${value instanceof Date ? value.toISOString() : value}`,
        );
      return `${sql.replace(/\s+/g, ' ').replace(/\$(\d+)/g, (_, position) => `:${name(position)}`)};\n`;
    });
    writeFileSync(file, statements.join(''));
    fileArguments.push('-f', file);
  }
  await db.destroy();
  return fileArguments;
}

/** @returns lists per second, with prepared statements over as many connections as Tipline has */
export async function pgbench(databaseUrl, fileArguments, seconds) {
  const options = ['-n', '-M', 'prepared', '-c', '20', '-j', '1', '-T', String(seconds)];
  const { stdout } = await run(servers.findProgram('pgbench'), [...options, ...fileArguments, databaseUrl], {
    maxBuffer: 1e8,
    env: { ...process.env, PGOPTIONS: '-c jit=off -c timezone=UTC' },
  });
  return Number(/tps = ([\d.]+)/.exec(stdout)[1]);
}
