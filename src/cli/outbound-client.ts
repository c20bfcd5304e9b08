import { hkdfSync } from 'node:crypto';
import type { Config } from '../config/settings.ts';
import { httpUrl } from '../model/http-url.ts';
import { addressProblem } from '../outbound/address-problem.ts';
import { type Outbound, openOutbound } from '../outbound/outbound.ts';
import { type SecretBox, secretBox } from '../secrets/secret-box.ts';
import { VERSION } from '../version.ts';
import { readSecret, type SecretSettings } from './secret.ts';
import { UsageError } from './usage-error.ts';

type OutboundSettings = Pick<Config, 'outboundNetworks'>;

/** The way to feeds and providers, under the operator's rules. */
export function openOutside({ outboundNetworks }: OutboundSettings): Outbound {
  return openOutbound({ allowedNetworks: outboundNetworks, userAgent: `Tipline/${VERSION}` });
}

/** @throws {UsageError} for an address that every request would refuse */
export async function requireReachable(
  address: string,
  { outboundNetworks }: OutboundSettings,
): Promise<void> {
  const url = httpUrl(address);
  const problem = url && (await addressProblem(url, outboundNetworks));
  if (problem)
    throw new UsageError(`Nothing can be fetched from ${url.host}: ${problem} (OUTBOUND_NETWORKS).`);
}

/** What sessions are signed with: a key of its own, so that no cookie tells of others. */
export async function sessionSecret(config: SecretSettings): Promise<string> {
  const key = hkdfSync('sha256', await readSecret(config), 'tipline', 'sessions', 32);
  return Buffer.from(key).toString('base64url');
}

/** What credentials are kept under; each kind of them has a key of its own. */
export async function openSecrets(
  config: SecretSettings,
): Promise<Record<'sources' | 'providers', SecretBox>> {
  const secret = await readSecret(config);
  return { sources: secretBox(secret, 'source credentials'), providers: secretBox(secret, 'provider keys') };
}
