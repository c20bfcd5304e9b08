import type { Tlp } from './vocabulary.ts';

/** The roles of accounts, from the least to the most privileged; each includes those before it. */
export const ROLES = ['viewer', 'analyst', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The access to an operation of the application: everybody, every session, or sessions of this role or a
 * higher one whose password need not be changed first.
 */
export type Access = Role | 'signed-in' | 'public';

/** A signed-in account. */
export interface Account {
  id: string;
  email: string;
  name: string;
  role: Role;
  /** The most restrictive TLP that is shown; set by the role. */
  tlpCeiling: Tlp;
  twoFactor: boolean;
  /** Another person set the password that opened this session: changing it is all that is allowed. */
  mustChangePassword: boolean;
  sessionId: string;
}

/** Tells whether a role includes the required one. */
export function hasRole(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** NIST SP 800-63B §5.1.1.2: length is the only requirement; the upper bound keeps hashing cheap. */
export const PASSWORD_LENGTH = { minLength: 12, maxLength: 128 };

/** Returns the address by which accounts are looked up: trimmed, in lower case. */
export function normalizeEmail(text: string): string {
  return text.trim().toLowerCase();
}

const EMAIL = /^[^\s@<>()[\],;:"\\\p{Cc}\p{Cf}]{1,64}@[^\s@<>()[\],;:"\\\p{Cc}\p{Cf}]{1,189}$/u;

/**
 * Returns whether a text looks like a deliverable address; the check is rough, because nothing is sent there.
 */
export function isEmail(text: string): boolean {
  return EMAIL.test(text);
}

/** The scopes of API keys. */
export const SCOPES = ['indicators:read', 'actors:read', 'campaigns:read', 'feeds:read'] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * Returns the path if it is a page of this site, else `/`, so that a link from another site cannot redirect
 * elsewhere: browsers drop tabs and line ends from it.
 */
export function sameSitePath(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(to) ? to : '/';
}
