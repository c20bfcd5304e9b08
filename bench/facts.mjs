/** Substrings that match more are cut off from the choice. */
const MOST_MATCHES = 10_000;
/** Texts that substrings are taken from, and how many of these are counted. */
const SAMPLES = 20_000;
const CANDIDATES = 30;
const IDS = 100_000;

/**
 * What the requests need to know of the data, asked of the database itself: ids, tags and words with the number of
 * matches wanted, how many pages there are.
 * @param most matches of each of these words
 */
export async function findFacts(client, most = {}) {
  const texts = await sampleTexts(client);
  const found = {};
  const matches = {};
  for (const characters of [3, 8, 12]) {
    const { c, n } = await commonest(client, texts, characters, most[`q${characters}`] ?? MOST_MATCHES);
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

/** Of the substrings of so many characters of a sample, the one that matches most, up to the limit. */
async function commonest(client, texts, characters, limit) {
  const counts = new Map();
  for (const text of texts) {
    const parts = new Set();
    for (let at = 0; at + characters <= text.length; at++) parts.add(text.slice(at, at + characters));
    for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  const { rows: all } = await client.query('select last_number::int as n from revision');
  const most = limit * Math.min(1, texts.length / all[0].n);
  const plain = [...counts].filter(([part]) => /^[a-z0-9]+$/.test(part));
  // A sample may say too little of a part.
  for (const share of [1, 0.5, 0.25, 0.1]) {
    const likely = plain
      .filter(([, count]) => count <= Math.max(1, most * share))
      .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
      .slice(0, CANDIDATES)
      .map(([part]) => part);
    const found = await mostMatches(client, likely, limit);
    if (found) return found;
  }
  throw new Error(`every part of ${characters} characters matches more than ${limit}`);
}

async function mostMatches(client, parts, limit) {
  const { rows } = await client.query(
    `select c, n from unnest($1::text[]) as c,
       lateral (select count(*)::int as n from
         (select from indicator where coalesce(search_text, normalized) like '%' || c || '%' limit $2 + 1) as found) as matches
     where n <= $2 order by n desc, c limit 1`,
    [parts, limit],
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
  const some = async (from) => {
    const { rows } = await client.query(
      `select id from ${from} where not whitelisted and expires_at is null order by md5(id::text) limit $1`,
      [IDS],
    );
    return rows.map(({ id }) => id);
  };
  const any = await some('indicator');
  const rich = await some(
    `(select indicator_id as id from enrichment union select from_id from relationship) as known
     join indicator using (id)`,
  );
  // Half of those whose context is asked for have one.
  return { ids: any, contextIds: any.slice(0, rich.length).flatMap((id, i) => [id, rich[i]]) };
}
