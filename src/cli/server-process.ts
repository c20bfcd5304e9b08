import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import { systemClock } from '../clock.ts';
import { tlsFiles } from '../config/config.ts';
import { requestSerializer } from '../http/logged-request.ts';
import { openTls, type TicketKeys, type Tls } from '../http/tls.ts';
import { systemReason } from '../model/system-error.ts';
import { currentTracing } from '../tracing/tracing.ts';
import type { Resources } from './resources.ts';

interface Port {
  host: string;
  port: number;
  /** The name of the port's setting, for error messages. */
  setting: string;
}

/** Opens TLS for the server of this process; undefined: it is not configured. */
export async function openServerTls(
  config: Parameters<typeof tlsFiles>[0],
  log: Logger,
  ticketKeys: TicketKeys,
): Promise<Tls | undefined> {
  const files = tlsFiles(config);
  return files ? openTls(files, { clock: systemClock, log, ticketKeys }) : undefined;
}

/**
 * Starts listening.
 * @returns the URL of the server for users, http://host:port or https://host:port
 */
export async function listen(app: FastifyInstance, port: Port): Promise<string> {
  await explained(app.listen({ host: addressToBind(port), port: port.port }), port);
  return addressOf(app.server, port.host);
}

/** The same for a server without routes. */
export async function listenDirectly(server: Server, port: Port): Promise<string> {
  await explained(once(server.listen({ host: addressToBind(port), port: port.port }), 'listening'), port);
  return addressOf(server, port.host);
}

/** On `localhost` Fastify would listen on ::1 with a second server, without the limits and later certificates of the first. */
const addressToBind = ({ host }: Port) => (host === 'localhost' ? '127.0.0.1' : host);

/** @throws an error that names host and port, when a server cannot listen on them */
async function explained(listening: Promise<unknown>, { host, port, setting }: Port): Promise<void> {
  try {
    await listening;
  } catch (error) {
    const reason = systemReason(error);
    if (reason === undefined) throw error;
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Error(`Port ${port} on ${host} is in use already. Choose another with ${setting}.`);
    throw new Error(`Cannot listen on HOST ${host}, ${setting} ${port}: ${reason}.`);
  }
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return localUrl({ host, port, secure: server instanceof TlsServer });
}

/** Returns the URL at which this machine reaches a server that listens on a host and port. */
export function localUrl({ host, port, secure }: { host: string; port: number; secure: boolean }): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http${secure ? 's' : ''}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Descriptors for the database, exports and other files; at most half of them where there are few. */
const RESERVED_FILES = 800;

/** Returns how many connections of clients this process can hold, from its limit of open files; undefined: there is none. */
export async function maxConnections(limitsFile = '/proc/self/limits'): Promise<number | undefined> {
  // Linux alone has the file.
  const limits = await readFile(limitsFile, 'utf8').catch(() => '');
  const files = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
  if (Number.isNaN(files)) return undefined;
  return Math.max(files - RESERVED_FILES, Math.floor(files / 2));
}

/** Signals that request a graceful shutdown; SIGHUP comes when the terminal or the SSH session has ended. */
export const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The maximum duration of a shutdown; after it, the process exits with code 1. */
const SHUTDOWN_MS = 25_000;

interface Shutdown {
  /** @returns whether everything could be closed */
  close(): Promise<boolean>;
  /** Called when the maximum duration is over, before the process exits. */
  onTimeout?(seconds: number): void;
  /** The time that `close` waits before it closes anything; it extends the maximum duration. */
  delayMs?: number;
}

/** Shuts the process down on the first of the signals, with exit code 0 if everything could be closed, and ignores later ones. */
export function stopOnSignals({ close, onTimeout = () => {}, delayMs = 0 }: Shutdown): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    const late = () => {
      onTimeout(SHUTDOWN_MS / 1000);
      process.exit(1);
    };
    setTimeout(late, delayMs + SHUTDOWN_MS).unref();
    process.exit((await close().catch(() => false)) ? 0 : 1);
  };
  for (const signal of END_SIGNALS) process.on(signal, stop);
}

/** Returns the `onTimeout` of a shutdown that logs the resource that is being closed. */
export const logTimeout =
  (log: Pick<Logger, 'error'>, { closing }: Pick<Resources, 'closing'>) =>
  (seconds: number) =>
    log.error(
      { closing: closing() },
      `the shutdown is not complete after ${seconds} seconds: the process exits`,
    );

export interface RunningServer {
  /** The URL for users, http://host:port or https://host:port. */
  address: string;
  /** The URL of the port that redirects to it; null: there is none. */
  redirects: string | null;
  storage: string;
  /**
   * The link that creates the account of the first administrator, once and within one hour. null: an account
   * exists, this is a secondary, the setting is off, or the link could not be stored.
   */
  firstStart: string | null;
}

/** Opens the log, one JSON object a line; by default on standard error, because standard output is for users. */
export function openLog(
  level: string,
  trustedProxies: readonly string[],
  destination: DestinationStream = pino.destination(2),
): Logger {
  const tracing = currentTracing();
  const mixin = tracing && (() => tracing.currentIds() ?? {});
  const serializers = { req: requestSerializer({ trustedProxies }) };
  return pino({ level, serializers, ...(mixin && { mixin }) }, destination);
}
