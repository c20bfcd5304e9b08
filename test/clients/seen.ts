import assert from 'node:assert/strict';

/** What each client has read of the demo, and what of it must be so. */
export interface Seen {
  total: number;
  /** Of one page of three indicators. */
  values: string[];
  types: string[];
  verdict: string;
  actors: string[];
  csv: string;
  /** Of the first attribute of a MISP export. */
  mispEvent: string;
  stixObjects: number;
  activeActors: number;
  concludedCampaigns: number;
  sigma: string;
  ready: string;
  /** Of a request that is wrong. */
  refused: { status: number; code: string };
}

export const settings = {
  baseUrl: process.env.TIPLINE_URL ?? '',
  key: process.env.TIPLINE_KEY ?? '',
};

export function check(client: string, seen: Seen): void {
  assert.ok(seen.total > 3, 'more than a page');
  assert.equal(seen.values.length, 3);
  assert.ok(seen.types.every((type) => type === 'IPV4' || type === 'DOMAIN'));
  assert.equal(seen.verdict, 'MALICIOUS');
  assert.deepEqual(seen.actors, ['APT28']);
  assert.match(seen.csv, /^type,value,confidence,id,.*\r?\nIPV4,185\.132\.17\.160,80,/);
  assert.match(seen.mispEvent, /^[\da-f-]{36}$/);
  assert.ok(seen.stixObjects > 1);
  assert.ok(seen.activeActors > 1);
  assert.ok(seen.concludedCampaigns > 1);
  assert.match(seen.sigma, /^# Sigma rules for the (?:threat )?actor APT28/);
  assert.equal(seen.ready, 'ok');
  assert.deepEqual(seen.refused, { status: 400, code: 'invalid_parameter' });
  console.log(
    `${client}: ${seen.total} indicators, ${seen.values.join(', ')}; ${seen.verdict}, ${seen.actors.join()}`,
  );
}
