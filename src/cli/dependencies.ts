import type { Logger } from 'pino';
import { systemClock } from '../clock.ts';
import { tlsFiles } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { openTls, type TicketKeys, type Tls } from '../http/tls.ts';
import { importersInThreads } from '../importers/parser-threads.ts';
import { readingInThreads } from '../lookup/reading-threads.ts';
import { type Outbound, openOutbound } from '../outbound/outbound.ts';
import { CODE } from '../root.ts';
import { VERSION } from '../version.ts';

/** Opens an importer on a worker thread. */
export const openImporter = importersInThreads(new URL('parser-thread.js', CODE));

/** Reads the values of bulk look-ups on worker threads. */
export const readTexts = readingInThreads(new URL('reading-thread.js', CODE));

/** Opens TLS for the server of this process; undefined: it is not configured. */
export async function openServerTls(
  config: Parameters<typeof tlsFiles>[0],
  log: Logger,
  ticketKeys: TicketKeys,
): Promise<Tls | undefined> {
  const files = tlsFiles(config);
  return files ? openTls(files, { clock: systemClock, log, ticketKeys }) : undefined;
}

/** Opens the client for outbound HTTP requests. It refuses private networks that the operator does not allow. */
export function openOutboundClient({ outboundNetworks }: Pick<Config, 'outboundNetworks'>): Outbound {
  return openOutbound({ allowedNetworks: outboundNetworks, userAgent: `Tipline/${VERSION}` });
}
