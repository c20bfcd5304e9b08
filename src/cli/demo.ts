import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { type Logger, pino } from 'pino';
import { findKeyByHash } from '../api-keys/api-keys.queries.ts';
import { createKey } from '../api-keys/api-keys.service.ts';
import { readConfig, tlsFiles } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import type { Database, Db } from '../db/database.ts';
import { refreshStatistics } from '../db/statistics.ts';
import { hashApiKey, isUsable, looksLikeApiKey } from '../model/api-key.ts';
import { findExample } from '../sample/sample.queries.ts';
import { loadSample } from '../sample/sample.service.ts';
import { cliActor } from './actor.ts';
import { UsageError } from './options.ts';
import { print } from './output.ts';
import { ownCommand } from './own-command.ts';
import { firstStartLines, startServer } from './serve.ts';
import { openLog, type RunningServer } from './server-process.ts';
import { traceIfConfigured, withDatabase } from './store.ts';

const KEY_FILE = 'demo-key';
const DEFAULT_DIRECTORY = './data';

export function demoCommand(): Command {
  return new Command('demo')
    .description('run the service with sample data and an API key for it')
    .option('--show-key', 'only print the key of the demo again')
    .action(({ showKey = false }: { showKey?: boolean }) => (showKey ? printKey() : demo()));
}

async function demo(): Promise<void> {
  const config = readConfig({ serving: true });
  // The commands that it prints would need the certificates of their authorities.
  if (tlsFiles(config))
    throw new UsageError('The demo serves plain HTTP only: unset TIPLINE_TLS_CERT, or use tipline serve.');
  await traceIfConfigured(config, (message, reason) => logger.warn({ reason }, message));
  const { logger, path } = openDemoLog(config, config.dataDirectory, process.stderr.isTTY);
  let key = '';
  let example: string | undefined;
  const prepare = async ({ db }: Database) => {
    const now = new Date();
    process.stderr.write('Loading the sample if it is not there yet …\n');
    if (await loadSample(db, now)) await refreshStatistics(db);
    key = await demoKey(db, config.dataDirectory, now);
    example = await findExample(db);
  };
  const server = await startServer(config, { prepare, logger });
  for (const line of welcome(server, { key, example, logPath: path, directory: config.dataDirectory }))
    print(line);
}

/** Prints the shell command that sets the key. */
async function printKey(): Promise<void> {
  const { dataDirectory } = readConfig();
  const none = `There is no usable key of a demo in ${dataDirectory}: tipline demo makes one.`;
  // Checked before the database is opened, so that the error is about the key if there is no database either.
  if ((await readKeyFile(dataDirectory)) === '') throw new Error(none);
  const key = await withDatabase(({ db }) => usableKey(db, dataDirectory, new Date()));
  if (key === null) throw new Error(none);
  print(exportLine(key));
}

const exportLine = (key: string) => `export TIPLINE_KEY=${key}`;

async function readKeyFile(directory: string): Promise<string> {
  return (await readFile(join(directory, KEY_FILE), 'utf8').catch(() => '')).trim();
}

/** Returns the key that an earlier start created; null: there is none, or it is revoked or expired. */
async function usableKey(db: Db, directory: string, now: Date): Promise<string | null> {
  const key = await readKeyFile(directory);
  const known = looksLikeApiKey(key) ? await findKeyByHash(db, hashApiKey(key)) : null;
  return known && isUsable(known.key, now) ? key : null;
}

/** Returns the stored key while it is usable, else a new one, stored in a file that only this user can read. */
async function demoKey(db: Db, directory: string, now: Date): Promise<string> {
  const path = join(directory, KEY_FILE);
  const usable = await usableKey(db, directory, now);
  if (usable !== null) return usable;
  const wanted = { name: 'demo', scopes: [], tlpCeiling: 'RED' as const, networks: [], expiresAt: null };
  const { key } = await createKey(db, wanted, cliActor(now));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, `${key}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return key;
}

interface Welcome {
  key: string;
  example: string | undefined;
  logPath: string | null;
  directory: string;
}

/** Returns the lines to print once the server listens. They contain the key once. */
function welcome(server: RunningServer, { key, example, logPath, directory }: Welcome): string[] {
  const { address } = server;
  const curl = (path: string) => `  curl -sH "Authorization: Bearer $TIPLINE_KEY" "${address}${path}"`;
  const setting = directory === DEFAULT_DIRECTORY ? '' : `TIPLINE_DATA_DIR='${directory}' `;
  const showKey = `${setting}${ownCommand(process.argv[1] ?? '', process.cwd())} demo --show-key`;
  return [
    '',
    `Tipline listens on ${address} with a sample of real threat intelligence.`,
    '',
    'Open a second terminal: this one belongs to the server. Set your API key there:',
    '',
    `  ${exportLine(key)}`,
    '',
    'Three requests to try there:',
    '',
    curl('/api/v1/indicators?type=IPV4&severity=HIGH&minConfidence=80&pageSize=3'),
    curl('/api/v1/campaigns?pageSize=3'),
    curl(`/api/v1/indicators/${example}/context`),
    '',
    `Reference: ${address}/api/docs   The application: ${address}/`,
    `The key again: ${showKey}   Stop with Ctrl-C.`,
    ...(logPath === null ? [] : [`Requests are logged to ${logPath}.`]),
    ...firstStartLines(server),
  ];
}

export interface DemoLog {
  logger: Logger;
  /** The path of the log file; null: the log goes to standard error only. */
  path: string | null;
}

/**
 * Opens the log of the demo. On a terminal, the lines of the requests would scroll the API key out of view:
 * standard error gets only warnings and errors, and a file, truncated at each start, gets the whole log.
 * @param directory of the file, created if it does not exist
 * @param isTerminal whether standard error is a terminal
 */
export function openDemoLog(
  { logLevel, trustedProxies }: Pick<Config, 'logLevel' | 'trustedProxies'>,
  directory: string,
  isTerminal: boolean,
): DemoLog {
  if (!isTerminal) return { logger: openLog(logLevel, trustedProxies), path: null };
  const path = join(directory, 'tipline.log');
  const file = pino.destination({ dest: path, mkdir: true, append: false, sync: true });
  const streams = pino.multistream([
    { level: 'trace', stream: file },
    { level: 'warn', stream: pino.destination(2) },
  ]);
  return { logger: openLog(logLevel, trustedProxies, streams), path };
}
