import { readFile } from 'node:fs/promises';
import { downloadOne, fileOf, MAX_PAGE_BYTES } from './fetch-file.ts';
import { FeedRunError, type FetchContext, type Fetched } from './fetching.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Fetches a MISP feed (MISP core format, "manifest"): `manifest.json` lists the events, each with the time of its last
 * change; only those that changed since the last run are fetched. A listed event that does not exist is skipped, and
 * requested again by the next run.
 */
export async function fetchMispFeed(context: FetchContext): Promise<Fetched> {
  const base = new URL(context.source.address.replace(/manifest\.json$/, '').replace(/\/?$/, '/'));
  const manifest = await readManifest(
    fileOf(await downloadOne(context, new URL('manifest.json', base).href, {}, MAX_PAGE_BYTES)).path,
  );
  const known = isRecord(context.memory.events) ? context.memory.events : {};
  const events: Record<string, string> = {};
  const fetched: Fetched = { files: [], memory: { events }, whole: false, skipped: [] };
  for (const [uuid, timestamp] of manifest) {
    if (known[uuid] === timestamp) {
      events[uuid] = timestamp;
      continue;
    }
    const path = await fetchEvent(context, new URL(`${uuid}.json`, base).href);
    if (path === null) {
      fetched.skipped?.push({ where: uuid, reason: 'an event in the manifest does not exist' });
      continue;
    }
    fetched.files.push({ label: `event ${uuid}`, path });
    events[uuid] = timestamp;
  }
  return fetched;
}

async function fetchEvent(context: FetchContext, url: string): Promise<string | null> {
  try {
    return fileOf(await downloadOne(context, url)).path;
  } catch (error) {
    if (error instanceof FeedRunError && (error.status === 404 || error.status === 410)) return null;
    throw error;
  }
}

async function readManifest(path: string): Promise<Map<string, string>> {
  let manifest: unknown;
  try {
    manifest = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    throw new FeedRunError('manifest.json is not JSON');
  }
  if (!isRecord(manifest)) throw new FeedRunError('manifest.json is not a MISP manifest');
  const events = Object.entries(manifest).filter(([uuid]) => UUID.test(uuid));
  if (events.length < Object.keys(manifest).length)
    throw new FeedRunError('manifest.json names something that is no event');
  return new Map(events.map(([uuid, event]) => [uuid, String(isRecord(event) ? event.timestamp : '')]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
