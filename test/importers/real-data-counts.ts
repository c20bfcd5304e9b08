import { readFileSync } from 'node:fs';

/**
 * What each file of the real files becomes. Written by `REAL_DATA=DIRECTORY npx vitest run test/importers/real-data.test.ts --update`; rejections
 * are then reviewed by reason, with the values behind them.
 */
export const COUNTS_FILE = new URL('real-data-counts.json', import.meta.url);
export type Counts = Record<string, Record<string, number>>;
export const readCounts = (): Counts => JSON.parse(readFileSync(COUNTS_FILE, 'utf8'));

/** Folders of what is imported. */
export const IMPORTED = ['actors', 'attack', 'feeds', 'misp', 'stix20', 'stix21', 'vulnerabilities'];

/** Lists whose form does not tell what they hold: an operator says it. */
export const OPTIONS: Record<string, { type: 'USER_AGENT' }> = {
  'feeds/text/maltrail-user-agents.txt': { type: 'USER_AGENT' },
};

/** What stands beside feeds, and is refused by what it is. */
export const REFUSED: Record<string, string> = {
  'stix21/tweetfeed-taxii-manifest-2026-08-15.json': 'a TAXII manifest',
  'misp/feed-tweetfeed/manifest.json': 'the manifest of a MISP feed',
  // MD5 digests of a feed's values, not of files.
  'misp/feed-tweetfeed/hashes.csv': 'the index of a MISP feed',
};
