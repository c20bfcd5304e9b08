import type { Tlp } from './vocabulary.ts';

/** What somebody signed in may do, from the least to the most; each includes those before it. */
export const ROLES = ['viewer', 'analyst', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * Who may use an operation of the application: everybody, every session, or sessions of this role or a higher one whose
 * password need not be changed first.
 */
export type Who = Role | 'signed-in' | 'public';

/** Somebody signed in. */
export interface Account {
  id: string;
  email: string;
  name: string;
  role: Role;
  /** Of the role: the most restricted data that is shown. */
  tlpCeiling: Tlp;
  twoFactor: boolean;
  /** Somebody else set the password that opened this session: nothing is allowed but to change it. */
  mustChangePassword: boolean;
  sessionId: string;
}

export function mayActAs(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** NIST SP 800-63B §5.1.1.2: length and nothing else makes a password; the upper bound keeps hashing cheap. */
export const PASSWORD_LENGTH = { minLength: 12, maxLength: 128 };

/** As accounts are found: without blanks around it, in lower case. */
export function normalizeEmail(text: string): string {
  return text.trim().toLowerCase();
}

const EMAIL = /^[^\s@<>()[\],;:"\\\p{Cc}\p{Cf}]{1,64}@[^\s@<>()[\],;:"\\\p{Cc}\p{Cf}]{1,189}$/u;

/** An address that mail could go to, roughly: nothing is sent there. */
export function isEmail(text: string): boolean {
  return EMAIL.test(text);
}
