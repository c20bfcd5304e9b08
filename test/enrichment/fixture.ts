import { readFileSync } from 'node:fs';

/** One provider's answer from test/fixtures/providers/, parsed. */
export function providerAnswer(name: string): unknown {
  const file = new URL(`../fixtures/providers/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}
