import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { mayConnect, parseNetworks } from './public-address.ts';
import { notAllowed, type Resolve } from './ssrf-guard.ts';

const WAIT_MS = 2_000;

/**
 * Returns why nothing can ever be fetched from a URL; null if something may, or if its name does not resolve
 * now.
 */
export async function addressProblem(
  { hostname }: URL,
  allowedNetworks: readonly string[],
  resolve: Resolve = (name) => lookup(name, { all: true }),
): Promise<string | null> {
  const networks = parseNetworks(allowedNetworks);
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{ address: host, family: 0 }] : await resolvedInTime(resolve(host));
  if (found.length === 0 || found.some(({ address }) => mayConnect(address, networks))) return null;
  return notAllowed().message;
}

/** Returns no addresses when the look-up fails or takes longer than an interactive user would wait. */
async function resolvedInTime(answer: ReturnType<Resolve>): ReturnType<Resolve> {
  const late = new Promise<[]>((done) => setTimeout(() => done([]), WAIT_MS).unref());
  return Promise.race([answer.catch(() => []), late]);
}
