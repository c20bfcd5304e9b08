import type { Config } from '../config/settings.ts';
import { httpUrl } from '../model/normalize-url.ts';
import { addressProblem } from '../outbound/ssrf-guard.ts';
import { UsageError } from './options.ts';

/**
 * Requires that requests to a URL are allowed.
 * @throws {UsageError} when the outbound client would refuse all of them
 */
export async function requireReachable(
  address: string,
  { outboundNetworks }: Pick<Config, 'outboundNetworks'>,
): Promise<void> {
  const url = httpUrl(address);
  const problem = url && (await addressProblem(url, outboundNetworks));
  if (problem)
    throw new UsageError(`Nothing can be fetched from ${url.host}: ${problem} (OUTBOUND_NETWORKS).`);
}
