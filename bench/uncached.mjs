// Lists that nobody has asked for before, beside the same statements through pgbench.
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
const MOST_PAGES = 20;
/** More than are asked for in a run: none is asked for twice. */
const LISTS = 20_000;
/** pgbench prepares the statements of each file on each connection: few, so that it has done so soon. */
const SAMPLES = 24;

/** Each another filter and page, in no order. */
export function lists() {
  const random = seededRandom(11);
  const all = new Map();
  while (all.size < LISTS) {
    const filters = { type: oneOf(random, TYPES), minConfidence: integer(random, 0, 90) };
    if (random() < 0.75) filters.severity = oneOf(random, SEVERITIES);
    const page = integer(random, 1, MOST_PAGES);
    const query = new URLSearchParams({ ...filters, page, pageSize: PAGE_SIZE });
    all.set(String(query), { filters, page, path: `/api/v1/indicators?${query}` });
  }
  return [...all.values()];
}

/**
 * The statements of a sample of them, each in a file for pgbench, and what their parameters are.
 * @returns the arguments that tell pgbench of them
 */
export async function pgbenchFiles(databaseUrl, sample) {
  const sent = [];
  const db = new Kysely({
    dialect: postgresDialect({ url: databaseUrl, maxConnections: 1, onIdleError: () => {} }),
    log: ({ query }) => sent.push(query),
  });
  const directory = servers.temporaryDirectory();
  const told = [];
  const viewer = { tlpCeiling: 'RED', now: new Date() };
  for (const [i, { filters, page }] of sample.slice(0, SAMPLES).entries()) {
    sent.length = 0;
    await listIndicators(db, viewer, filters, { page, pageSize: PAGE_SIZE });
    const file = join(directory, `${i}.sql`);
    const statements = sent.map(({ sql, parameters }, at) => {
      const name = (place) => `p${i}_${at}_${place}`;
      for (const [place, value] of parameters.entries())
        told.push('-D', `${name(place + 1)}=${value instanceof Date ? value.toISOString() : value}`);
      return `${sql.replace(/\s+/g, ' ').replace(/\$(\d+)/g, (_, place) => `:${name(place)}`)};\n`;
    });
    writeFileSync(file, statements.join(''));
    told.push('-f', file);
  }
  await db.destroy();
  return told;
}

/** @returns statements (all that a list takes) a second over as many connections as the service has, prepared */
export async function pgbench(databaseUrl, told, seconds) {
  const options = ['-n', '-M', 'prepared', '-c', '20', '-j', '1', '-T', String(seconds)];
  const { stdout } = await run(servers.find('pgbench'), [...options, ...told, databaseUrl], {
    maxBuffer: 1e8,
    env: { ...process.env, PGOPTIONS: '-c jit=off -c timezone=UTC' },
  });
  return Number(/tps = ([\d.]+)/.exec(stdout)[1]);
}
