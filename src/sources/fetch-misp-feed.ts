import { downloadOne, fileOf, MAX_PAGE_BYTES } from './fetch-file.ts';
import { FeedRunError, type FetchContext, type Fetched, readJson, sizeOf } from './fetching.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Fetches a MISP feed (MISP core format, "manifest"): `manifest.json` lists the events, each with the time of its last
 * change; only those that changed since the last run are fetched. A listed event that the server does not send, or that is no event, is
 * skipped, and requested again by the next run.
 * @throws {FeedRunError} also when the server refuses several events in a row
 */
export async function fetchMispFeed(context: FetchContext): Promise<Fetched> {
  const base = new URL(context.source.address.replace(/manifest\.json$/, '').replace(/\/?$/, '/'));
  const manifest = await readManifest(
    fileOf(await downloadOne(context, new URL('manifest.json', base).href, {}, MAX_PAGE_BYTES)).path,
  );
  const known = isRecord(context.memory.events) ? context.memory.events : {};
  const events: Record<string, string> = {};
  const skipped: NonNullable<Fetched['skipped']> = [];
  const fetched: Fetched = { files: [], memory: { events }, whole: false, skipped };
  let failuresInARow = 0;
  for (const [uuid, timestamp] of manifest) {
    if (known[uuid] === timestamp) {
      events[uuid] = timestamp;
      continue;
    }
    const event = await fetchEvent(context, new URL(`${uuid}.json`, base).href);
    if ('problem' in event) {
      skipped.push({ where: uuid, reason: event.problem });
      failuresInARow = event.isFailure ? failuresInARow + 1 : 0;
      if (failuresInARow === MAX_FAILURES)
        throw new FeedRunError(`${MAX_FAILURES} events in a row cannot be read; ${uuid}: ${event.problem}`);
      continue;
    }
    failuresInARow = 0;
    fetched.files.push({ label: `event ${uuid}`, path: event.path });
    events[uuid] = timestamp;
  }
  return fetched;
}

/** The number of failures of the server in a row after which the run ends: the server is not able to send events. */
const MAX_FAILURES = 3;

/** Returns the file of an event, or why there is none, and whether that is a failure of the server. */
async function fetchEvent(
  context: FetchContext,
  url: string,
): Promise<{ path: string } | { problem: string; isFailure: boolean }> {
  try {
    const { path } = fileOf(await downloadOne(context, url));
    const problem = await problemOf(path);
    return problem === null
      ? { path }
      : { problem: `an event in the manifest is ${problem}`, isFailure: false };
  } catch (error) {
    if (!(error instanceof FeedRunError) || error.status === null || OF_ALL.includes(error.status))
      throw error;
    const isAbsent = error.status === 404 || error.status === 410;
    return {
      problem: isAbsent
        ? 'an event in the manifest does not exist'
        : `an event in the manifest is answered with HTTP ${error.status}`,
      isFailure: !isAbsent,
    };
  }
}

/** Statuses that concern the other events as well: the server wants other credentials, or fewer requests. */
const OF_ALL: readonly number[] = [401, 429];

/** Returns why a file is no event; null: it is one. Events that are too large to be parsed at once are checked by the importer. */
async function problemOf(path: string): Promise<string | null> {
  if ((await sizeOf(path)) > MAX_PAGE_BYTES) return null;
  try {
    return holdsEvents(await readJson(path)) ? null : 'another document';
  } catch {
    return 'not JSON';
  }
}

/** Returns whether the importer reads a document as events. */
function holdsEvents(json: unknown): boolean {
  if (!isRecord(json)) return Array.isArray(json);
  return isRecord(json.Event) || Object.hasOwn(json, 'info') || Array.isArray(json.response);
}

async function readManifest(path: string): Promise<Map<string, string>> {
  let manifest: unknown;
  try {
    manifest = await readJson(path);
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
