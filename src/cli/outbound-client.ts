import type { Config } from '../config/settings.ts';
import { type Outbound, openOutbound } from '../outbound/outbound.ts';
import { VERSION } from '../version.ts';

/** Opens the client for outbound HTTP requests. It refuses private networks that the operator does not allow. */
export function openOutboundClient({ outboundNetworks }: Pick<Config, 'outboundNetworks'>): Outbound {
  return openOutbound({ allowedNetworks: outboundNetworks, userAgent: `Tipline/${VERSION}` });
}
