import type { SecretBox } from '../secrets/secret-box.ts';
import { error, type Judgement, ok } from './finding.ts';

/** A stored credential of a source, a provider or the webhook of a feed. */
export interface StoredCredential {
  kind: 'source' | 'provider' | 'webhook';
  /** The name of the source or provider, or the slug of the feed. */
  name: string;
  sealed: string;
}

export type CredentialBoxes = Record<StoredCredential['kind'], SecretBox>;

/**
 * Judges whether stored credentials can be decrypted.
 * @param boxes null: there is no secret
 */
export function judgeCredentials(
  stored: readonly StoredCredential[],
  boxes: CredentialBoxes | null,
): Judgement {
  const lost = stored.filter(({ kind, sealed }) => boxes === null || !isOpened(boxes[kind], sealed));
  if (stored.length === 0) return ok('No credentials are stored');
  if (lost.length === 0) return ok(`All ${stored.length} stored credentials can be decrypted`);
  const names = lost.map(({ kind, name }) => `${kind === 'webhook' ? 'webhook of' : kind} ${name}`);
  return error(
    `Stored credentials that cannot be decrypted: ${names.join(', ')}`,
    'Set TIPLINE_SECRET to the secret under which they were stored, or enter them again as docs/operating.md says under A lost secret.',
  );
}

function isOpened(box: SecretBox, sealed: string): boolean {
  try {
    box.open(sealed);
    return true;
  } catch {
    return false;
  }
}
