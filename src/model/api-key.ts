import { hash, randomBytes } from 'node:crypto';
import type { Scope } from './account.ts';
import type { Tlp } from './vocabulary.ts';

/** Recognizable to secret scanners; no other output begins with it. */
const PREFIX = 'tip_';
const PATTERN = /^tip_[A-Za-z0-9_-]{40,128}$/;

export interface ApiKey {
  id: string;
  name: string;
  /** The four characters after `tip_`: enough to tell keys apart, not to use one. */
  prefix: string;
  /** Empty: every scope. */
  scopes: Scope[];
  tlpCeiling: Tlp;
  /** Empty: from anywhere. */
  networks: string[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** The ids of the feeds to which it is bound: it can read these and nothing else. Empty: it can read what its scopes allow. */
  feeds: string[];
  /** The account that created it; null: a command created it. */
  ownerId: string | null;
  /** Whether the account that created it is disabled: it is rejected as long as that lasts. */
  isOwnerDisabled: boolean;
}

/** Generates a key: 256 random bits in base64url (RFC 4648 §5), 43 characters after the prefix. */
export function newApiKey(): { key: string; prefix: string; hash: string } {
  const key = PREFIX + randomBytes(32).toString('base64url');
  return { key, prefix: key.slice(PREFIX.length, PREFIX.length + 4), hash: hashApiKey(key) };
}

export function looksLikeApiKey(text: string): boolean {
  return PATTERN.test(text);
}

export function hashApiKey(key: string): string {
  return hash('sha256', key, 'hex');
}

type KeyState = 'usable' | 'revoked' | 'expired' | 'owner-disabled';

/** Returns whether a key is accepted or, if not, why. */
export function keyState(
  { revokedAt, expiresAt, isOwnerDisabled }: Pick<ApiKey, 'expiresAt' | 'revokedAt' | 'isOwnerDisabled'>,
  now: Date,
): KeyState {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  return isOwnerDisabled ? 'owner-disabled' : 'usable';
}

export const isUsable = (key: Parameters<typeof keyState>[0], now: Date): boolean =>
  keyState(key, now) === 'usable';
