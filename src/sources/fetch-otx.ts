import { httpUrl } from '../model/normalize-url.ts';
import { downloadOne, fileOf, MAX_PAGE_BYTES } from './fetch-file.ts';
import {
  FeedRunError,
  type FetchContext,
  type Fetched,
  type FetchedFile,
  notLaterThan,
  readJson,
} from './fetching.ts';

const PAGE_SIZE = '20';
const MAX_PAGES = 10_000;

/** Fetches the subscribed pulses that have changed since the last run (`modified_since`), page by page. */
export async function fetchOtx(context: FetchContext): Promise<Fetched> {
  const since = typeof context.memory.modifiedSince === 'string' ? context.memory.modifiedSince : null;
  const first = new URL(context.source.address);
  first.searchParams.set('limit', PAGE_SIZE);
  if (since) first.searchParams.set('modified_since', since);
  let [url, latest]: [string | null, string | null] = [first.href, since];
  const files: FetchedFile[] = [];
  for (let page = 1; url; page++) {
    if (page > MAX_PAGES) throw new FeedRunError(`there are more than ${MAX_PAGES} pages of pulses`);
    const { path } = fileOf(await downloadOne(context, url, {}, MAX_PAGE_BYTES));
    const { next, modified } = await readPage(path, page, first);
    if (modified.length > 0) files.push({ label: `page ${page}`, path });
    latest = [...modified, ...(latest ? [latest] : [])].reduce(
      (a, b) => (Date.parse(a) >= Date.parse(b) ? a : b),
      latest ?? '',
    );
    url = next;
  }
  return { files, memory: latest ? { modifiedSince: notLaterThan(latest, context.now) } : {}, whole: false };
}

/** Reads a page of pulses. Its `next` must be on the same origin, because the request for it contains the key. */
async function readPage(path: string, page: number, first: URL) {
  let answer: { next?: unknown; results?: unknown } | null;
  try {
    answer = (await readJson(path)) as typeof answer;
  } catch {
    throw new FeedRunError(`page ${page} of the pulses is not JSON`);
  }
  if (!Array.isArray(answer?.results)) throw new FeedRunError(`page ${page} holds no list of pulses`);
  const next = typeof answer.next === 'string' ? httpUrl(answer.next) : null;
  if (next && next.origin !== first.origin)
    throw new FeedRunError('the next page of the pulses is on another host');
  const modified = answer.results.flatMap((pulse: unknown) => {
    const date = (pulse as Record<string, unknown> | null)?.modified;
    return typeof date === 'string' && !Number.isNaN(Date.parse(date)) ? [date] : [];
  });
  return { next: next?.href ?? null, modified };
}
