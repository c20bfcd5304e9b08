/** Substrings with more matches are not chosen. */
const MAX_MATCHES = 10_000;
/** The number of texts that substrings are taken from, and of substrings whose matches are counted. */
const SAMPLES = 20_000;
const CANDIDATES = 30;
const IDS = 100_000;

/**
 * Reads from the database the parameters of the requests: ids, tags, and substrings with their numbers of matches.
 * @param maxMatches the highest number of matches, by the name of each substring
 */
export async function findFacts(client, maxMatches = {}) {
  const texts = await sampleTexts(client);
  const found = {};
  const matches = {};
  for (const characters of [3, 8, 12]) {
    const { c, n } = await mostCommonSubstring(
      client,
      texts,
      characters,
      maxMatches[`q${characters}`] ?? MAX_MATCHES,
    );
    found[`q${characters}`] = c;
    matches[`q${characters}`] = n;
  }
  return { ...found, matches, ...(await tags(client)), ...(await ids(client)) };
}

async function sampleTexts(client) {
  const { rows } = await client.query(
    `select coalesce(search_text, normalized) as text from indicator
     where number % greatest(1, (select last_number from revision) / $1) = 0 order by number limit $1`,
    [SAMPLES],
  );
  return rows.map(({ text }) => text);
}

/** Returns the substring of that length with the most matches up to the limit, chosen from a sample of texts. */
async function mostCommonSubstring(client, texts, characters, limit) {
  const counts = new Map();
  for (const text of texts) {
    const substrings = new Set();
    for (let at = 0; at + characters <= text.length; at++) substrings.add(text.slice(at, at + characters));
    for (const substring of substrings) counts.set(substring, (counts.get(substring) ?? 0) + 1);
  }
  const { rows: all } = await client.query('select last_number::int as n from revision');
  const sampleLimit = limit * Math.min(1, texts.length / all[0].n);
  const plain = [...counts].filter(([substring]) => /^[a-z0-9]+$/.test(substring));
  // The sample may underestimate the matches of a substring; then rarer ones are tried.
  for (const share of [1, 0.5, 0.25, 0.1]) {
    const candidates = plain
      .filter(([, count]) => count <= Math.max(1, sampleLimit * share))
      .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
      .slice(0, CANDIDATES)
      .map(([substring]) => substring);
    const found = await mostMatches(client, candidates, limit);
    if (found) return found;
  }
  throw new Error(`Every candidate of ${characters} characters matches more than ${limit} indicators.`);
}

async function mostMatches(client, substrings, limit) {
  const { rows } = await client.query(
    `select c, n from unnest($1::text[]) as c,
       lateral (select count(*)::int as n from
         (select from indicator where coalesce(search_text, normalized) like '%' || c || '%' limit $2 + 1) as found) as matches
     where n <= $2 order by n desc, c limit 1`,
    [substrings, limit],
  );
  return rows[0];
}

async function tags(client) {
  const { rows } = await client.query(
    `select tag, count(*)::int as n from indicator, unnest(tags) as tag group by tag order by n desc, tag`,
  );
  return { commonTag: rows[0].tag, rareTag: rows.at(-1).tag };
}

async function ids(client) {
  const sampleIds = async (from) => {
    const { rows } = await client.query(
      `select id from ${from} where not whitelisted and expires_at is null order by md5(id::text) limit $1`,
      [IDS],
    );
    return rows.map(({ id }) => id);
  };
  const all = await sampleIds('indicator');
  const withContext = await sampleIds(
    `(select indicator_id as id from enrichment union select from_id from relationship) as linked
     join indicator using (id)`,
  );
  // An imported database has neither enrichments nor links.
  if (withContext.length === 0) return { ids: all, contextIds: all };
  // Half of the requested contexts have enrichments or links.
  return { ids: all, contextIds: all.slice(0, withContext.length).flatMap((id, i) => [id, withContext[i]]) };
}
