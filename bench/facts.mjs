/** Substrings that match more are cut off from the choice. */
const MOST_MATCHES = 10_000;
/** Where in a value substrings are taken from. */
const PLACES = [4, 9, 14, 19, 24, 29];
const IDS = 100_000;

/**
 * What the requests need to know of the data, asked of the database itself: ids, tags and words with the number of
 * matches wanted, how many pages there are.
 */
export async function findFacts(client) {
  const texts = await sampleTexts(client);
  const [q3, q8, q12] = [
    await commonest(client, texts, 3),
    await commonest(client, texts, 8),
    await commonest(client, texts, 12),
  ];
  return { q3, q8, q12, ...(await tags(client)), ...(await ids(client)) };
}

async function sampleTexts(client) {
  const { rows } = await client.query(
    `select lower(normalized) as text from indicator
     where number % greatest(1, (select last_number from revision) / 60) = 0 order by number limit 60`,
  );
  return rows.map(({ text }) => text);
}

/** Of substrings of so many characters, out of the middle of real values, the one that matches most. */
async function commonest(client, texts, characters) {
  const candidates = texts.flatMap((text) => PLACES.map((at) => text.slice(at, at + characters)));
  const plain = [...new Set(candidates)].filter(
    (text) => text.length === characters && /^[a-z0-9]+$/.test(text),
  );
  const { rows } = await client.query(
    `select c, n from unnest($1::text[]) as c,
       lateral (select count(*)::int as n from
         (select from indicator where coalesce(search_text, normalized) like '%' || c || '%' limit $2 + 1) as found) as matches
     where n <= $2 order by n desc, c limit 1`,
    [plain, MOST_MATCHES],
  );
  return rows[0].c;
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
