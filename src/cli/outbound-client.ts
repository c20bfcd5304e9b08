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

/** Opens the client for outbound HTTP requests. It refuses private networks that the operator does not allow. */
export function openOutboundClient({ outboundNetworks }: OutboundSettings): Outbound {
  return openOutbound({ allowedNetworks: outboundNetworks, userAgent: `Tipline/${VERSION}` });
}

/**
 * Requires that requests to a URL are allowed.
 * @throws {UsageError} when the outbound client would refuse all of them
 */
export async function requireReachable(
  address: string,
  { outboundNetworks }: OutboundSettings,
): Promise<void> {
  const url = httpUrl(address);
  const problem = url && (await addressProblem(url, outboundNetworks));
  if (problem)
    throw new UsageError(`Nothing can be fetched from ${url.host}: ${problem} (OUTBOUND_NETWORKS).`);
}

/** Returns the key that signs sessions. It is derived, so that a cookie reveals nothing about other keys. */
export async function sessionSecret(config: SecretSettings): Promise<string> {
  const key = hkdfSync('sha256', await readSecret(config), 'tipline', 'sessions', 32);
  return Buffer.from(key).toString('base64url');
}

/** Returns the encryption of stored credentials; sources and providers have separate keys. */
export async function openSecrets(
  config: SecretSettings,
): Promise<Record<'sources' | 'providers', SecretBox>> {
  const secret = await readSecret(config);
  return { sources: secretBox(secret, 'source credentials'), providers: secretBox(secret, 'provider keys') };
}
