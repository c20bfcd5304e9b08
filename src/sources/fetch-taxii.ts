import { downloadOne, fileOf, MAX_PAGE_BYTES } from './fetch-file.ts';
import {
  FeedRunError,
  type FetchContext,
  type Fetched,
  type FetchedFile,
  notLaterThan,
  readJson,
} from './fetching.ts';

/** The media type of TAXII 2.1 (§1.6.8.1). */
const MEDIA_TYPE = 'application/taxii+json;version=2.1';
/** The maximum number of pages: a server that never ends the collection would fill the disk. */
const MAX_PAGES = 10_000;
const PAGE_SIZE = '1000';

/**
 * Fetches the objects of a TAXII 2.1 collection (§5.4) that were added since the last run, page by page: by `next` or,
 * if a server sends none, by the date of the last object added (`X-TAXII-Date-Added-Last`, §3.4).
 * The address is that of the collection: `https://…/collections/{id}/`.
 */
export async function fetchTaxii(context: FetchContext): Promise<Fetched> {
  const { memory } = context;
  let addedAfter = typeof memory.addedAfter === 'string' ? memory.addedAfter : null;
  let next: string | null = null;
  let latest: string | null = null;
  const files: FetchedFile[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const download = await downloadOne(
      context,
      pageUrl(context.source.address, addedAfter, next),
      {
        headers: { accept: MEDIA_TYPE },
      },
      MAX_PAGE_BYTES,
    );
    const { path } = fileOf(download);
    const { more, nextPage, holdsObjects } = await readEnvelope(path, page);
    if (holdsObjects) files.push({ label: `page ${page}`, path });
    const last = dateOf(download.headers['x-taxii-date-added-last']);
    // The last page may be empty and have no date.
    latest = last ?? latest;
    const before = addedAfter;
    if (!nextPage) addedAfter = last ?? addedAfter;
    if (!more)
      return {
        files,
        memory: { addedAfter: notLaterThan(latest ?? addedAfter, context.now) },
        whole: false,
      };
    if (!nextPage && addedAfter === before)
      throw new FeedRunError(
        'the collection states that there are more objects, but sends neither next nor a date',
      );
    next = nextPage;
  }
  throw new FeedRunError(`the collection has more than ${MAX_PAGES} pages`);
}

function pageUrl(address: string, addedAfter: string | null, next: string | null): string {
  const url = new URL('objects/', address.endsWith('/') ? address : `${address}/`);
  url.searchParams.set('limit', PAGE_SIZE);
  if (addedAfter) url.searchParams.set('added_after', addedAfter);
  if (next) url.searchParams.set('next', next);
  return url.href;
}

/** Reads a page of objects. An empty page is `{}` (§3.7). */
async function readEnvelope(path: string, page: number) {
  let envelope: unknown;
  try {
    envelope = await readJson(path);
  } catch {
    throw new FeedRunError(`page ${page} of the collection is not JSON`);
  }
  if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope))
    throw new FeedRunError(`page ${page} of the collection is not a TAXII envelope`);
  const { more, next, objects } = envelope as Record<string, unknown>;
  if (objects !== undefined && !Array.isArray(objects))
    throw new FeedRunError(`page ${page} of the collection is not a TAXII envelope`);
  return {
    more: more === true,
    nextPage: typeof next === 'string' && next !== '' ? next : null,
    holdsObjects: Array.isArray(objects) && objects.length > 0,
  };
}

function dateOf(header: string | undefined): string | null {
  return header !== undefined && !Number.isNaN(Date.parse(header)) ? header : null;
}
