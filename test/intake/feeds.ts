import { createImporter } from '../../src/importers/recognize.ts';
import { type Outbound, openOutbound } from '../../src/outbound/outbound.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { type RunDeps, type RunOptions, runSource } from '../../src/sources/run-source.ts';
import type { SourceSettings } from '../../src/sources/source-settings.ts';
import { saveSource } from '../../src/sources/sources.service.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { type Harness, WIDEST } from '../support/harness.ts';

export const SECRETS = secretBox('a secret of more than thirty-two characters', 'test');

export interface Feeds {
  server: FeedServer;
  outbound: Outbound;
  deps: RunDeps;
  /** Sets a source up at the server. */
  add(
    settings: Partial<SourceSettings> & Pick<SourceSettings, 'kind'>,
    credentials?: Record<string, string> | null,
  ): Promise<string>;
  run(id: string, options?: Partial<RunOptions>): ReturnType<typeof runSource>;
  close(): Promise<void>;
}

/** Sources that are fetched from a server on loopback. */
export async function startFeeds(tipline: Harness, limits: { maxBytes?: number } = {}): Promise<Feeds> {
  const server = await startFeedServer();
  const outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'], userAgent: 'test' });
  const deps = {
    db: tipline.db,
    outbound,
    secrets: SECRETS,
    directory: temporaryDirectory(),
    maxBytes: limits.maxBytes ?? 16 * 1024 * 1024,
    widest: WIDEST,
    version: '1',
    openImporter: createImporter,
  };
  return {
    server,
    outbound,
    deps,
    async add(settings, credentials) {
      const wanted: SourceSettings = {
        name: 'Feed',
        address: `${server.address}/feed`,
        options: {},
        intervalSeconds: 3600,
        enabled: true,
        defaults: { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' },
        lifetimes: {},
        isSnapshotList: false,
        ...settings,
      };
      const change = {
        who: 'test',
        now: tipline.clock.now,
        ...(credentials !== undefined && { credentials }),
      };
      return (await saveSource(tipline.db, SECRETS, wanted, change)).id;
    },
    run: (id, options = {}) =>
      runSource(deps, id, { now: tipline.clock.now, signal: AbortSignal.timeout(60_000), ...options }),
    async close() {
      await outbound.close();
      await server.close();
    },
  };
}
