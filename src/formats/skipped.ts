/**
 * Why a format leaves out an indicator of a type that it can express:
 * - `not-http`: a URL that is not fetched by HTTP
 * - `characters`: the value has characters that the format cannot hold
 * - `length`: the value is too long
 * - `port`: a whole site on one port, where an entry has no port
 * - `path`: a file name with a path, where names are compared without one
 * - `any-address`: `0.0.0.0`, `::` or a network that begins there, which would match every address
 * - `reserved-name`: the name has another meaning in a policy zone
 * - `public-suffix`: a public suffix, where the consumer would add the names below it
 * - `file-hash`: the hash of a file, where only fingerprints of certificates are compared
 * - `certificate`: the fingerprint of a certificate, where only hashes of files are compared
 * - `network`: a network, where only single addresses are compared, or only some lengths of prefixes
 * - `whitelisted-parts`: a network with so many whitelisted parts that a rule cannot hold the rest, or a domain with whitelisted
 *   names below it, where the consumer would add those names
 * - `sid`: an indicator for whose rules no sids are left
 * - `limit`: beyond the limit of the request
 */
export type SkipReason =
  | 'not-http'
  | 'characters'
  | 'length'
  | 'port'
  | 'path'
  | 'any-address'
  | 'reserved-name'
  | 'public-suffix'
  | 'file-hash'
  | 'certificate'
  | 'network'
  | 'whitelisted-parts'
  | 'sid'
  | 'limit';

/** The indicators that a format leaves out while it writes, by reason. */
export class Skipped {
  readonly counts: Partial<Record<SkipReason, number>> = {};
  /** The number of whitelisted addresses, networks and names that are left out of listed networks and domains. */
  parts = 0;

  add(reason: SkipReason): void {
    this.counts[reason] = (this.counts[reason] ?? 0) + 1;
  }

  addParts(count: number): void {
    this.parts += count;
  }

  /**
   * Returns lines for the end of a file with comments; '' when nothing is left out but what a limit excludes, which
   * the client asked for.
   * @param sign begins a comment
   */
  comment(sign: '#' | ';'): string {
    const { limit: _, ...others } = this.counts;
    const reasons = Object.entries(others).map(([reason, count]) => `${reason} ${count}`);
    const lines = [
      ...(reasons.length === 0 ? [] : [`Left out: ${reasons.sort().join(', ')}`]),
      ...(this.parts === 0
        ? []
        : [`Left out of listed networks and domains, because they are whitelisted: ${this.parts}`]),
    ];
    return lines.map((line) => `${sign} ${line}\n`).join('');
  }
}

/** Returns the sums of two counts by reason. */
export function addCounts(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const sums = { ...a };
  for (const [reason, count] of Object.entries(b)) sums[reason] = (sums[reason] ?? 0) + count;
  return sums;
}

/** Returns counts as a structured field (RFC 9651): how many in total and, as parameters, why. */
export function skippedField(counts: Record<string, number>): string {
  const reasons = Object.entries(counts).map(([reason, count]) => `;${reason.toLowerCase()}=${count}`);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${total}${reasons.join('')}`;
}
