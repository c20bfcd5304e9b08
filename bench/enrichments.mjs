import { chance, integer, oneOf } from './random.mjs';

const DAY_MS = 24 * 60 * 60 * 1000;
const PROVIDERS = ['virustotal', 'abuseipdb', 'greynoise', 'shodan', 'otx'];
const ENGINES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo', 'Foxtrot', 'Golf', 'Hotel'];

/** Returns rows of `enrichment` for an indicator: one to three providers, with responses of about 2 to 20 kB each. */
export function enrichmentRows({ id, value }, now, random) {
  const first = integer(random, 0, PROVIDERS.length - 1);
  return Array.from({ length: integer(random, 1, 3) }, (_, i) => {
    const fetchedAt = new Date(now.getTime() - random() * 60 * DAY_MS);
    const failed = chance(random, 0.05);
    const score = failed ? null : integer(random, 0, 100);
    return [
      id,
      PROVIDERS[(first + i) % PROVIDERS.length],
      verdict(score),
      score,
      fetchedAt,
      new Date(fetchedAt.getTime() + 30 * DAY_MS),
      failed ? 'timeout' : null,
      failed ? 'null' : JSON.stringify(providerResponse(value, random)),
      1,
    ];
  });
}

function verdict(score) {
  if (score === null) return 'UNKNOWN';
  return score >= 70 ? 'MALICIOUS' : score >= 30 ? 'SUSPICIOUS' : 'BENIGN';
}

/** Returns a response in the format of a multi-engine scanner: one verdict for each engine. */
function providerResponse(value, random) {
  const results = Array.from({ length: integer(random, 16, 150) }, (_, i) => ({
    engine: `${oneOf(random, ENGINES)}-${i}`,
    category: chance(random, 0.2) ? 'malicious' : 'undetected',
    result: chance(random, 0.2) ? `Trojan.Agent.${integer(random, 1000, 9999)}` : null,
    engine_update: '20260101',
    engine_version: `${integer(random, 1, 20)}.${integer(random, 0, 99)}`,
  }));
  return {
    data: { id: value, type: 'analysis', attributes: { results, reputation: integer(random, -100, 100) } },
  };
}
