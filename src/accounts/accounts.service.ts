import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { isEmail, normalizeEmail, PASSWORD_LENGTH, type Role } from '../model/account.ts';
import type { Tlp } from '../model/vocabulary.ts';
import {
  countAdministrators,
  deleteFirstStarts,
  findFirstStart,
  findUser,
  hasUsers,
  insertUser,
  listRoles,
  type User,
  unlinkIdentities,
  updateUser,
  writeCeiling,
  writeFirstStart,
  writePassword,
} from './accounts.queries.ts';
import { hashPassword } from './password.ts';
import { deleteSessions } from './sessions.queries.ts';
import { hashToken, newToken } from './sessions.ts';
import { deleteTwoFactor } from './two-factor.queries.ts';

/** Thrown when a change of an account is not possible; the message is shown to the user. */
export class AccountError extends Error {
  override name = 'AccountError';
}

export interface NewUser {
  email: string;
  name: string;
  role: Role;
  password: string;
}

/**
 * Creates an account for somebody else, who must change the password at the first sign-in.
 * @throws {AccountError} when the address is invalid or taken, the name empty, or the password of the wrong length
 */
export async function createUser(db: Db, wanted: NewUser, by: AuditActor): Promise<User> {
  const { password, ...user } = checked(wanted);
  const hash = await hashPassword(password);
  return db.transaction().execute((trx) => insert(trx, user, { hash, setBy: 'another' }, by));
}

function checked({ email, name, role, password }: NewUser): NewUser {
  const wanted = { email: normalizeEmail(email), name: name.trim(), role, password };
  if (!isEmail(wanted.email)) throw new AccountError(`"${wanted.email}" is no e-mail address.`);
  if (wanted.name === '') throw new AccountError('The name must not be empty.');
  checkPassword(password);
  return wanted;
}

function checkPassword(password: string): void {
  const { minLength, maxLength } = PASSWORD_LENGTH;
  if (password.length < minLength || password.length > maxLength)
    throw new AccountError(`A password has ${minLength} to ${maxLength} characters.`);
}

async function insert(
  trx: Transaction<Tables>,
  user: Omit<NewUser, 'password'>,
  { hash, setBy }: { hash: string; setBy: 'owner' | 'another' },
  by: AuditActor,
): Promise<User> {
  if (await findUser(trx, user.email))
    throw new AccountError(`There is an account for ${user.email} already.`);
  const id = randomUUID();
  await insertUser(trx, { id, ...user }, by.now);
  await writePassword(trx, id, hash, setBy);
  await deleteFirstStarts(trx);
  await audit(trx, 'user.create', id, null, user, by);
  return { id, ...user, twoFactor: false, disabledAt: null, createdAt: by.now };
}

export interface UserChange {
  name?: string;
  role?: Role;
  disabled?: boolean;
  /** Replaces the password; the owner must change it at the next sign-in. */
  password?: string;
  /** Removes the second factor. */
  withoutTwoFactor?: boolean;
  /** Removes the link to an account at the OpenID provider; the next sign-in there links again. */
  withoutIdentity?: boolean;
}

/**
 * Changes an account. A change of role, password or enabled state ends all of its sessions.
 * @throws {AccountError} when the change is invalid, there is no such account, or it is the last administrator's
 */
export async function changeUser(
  db: Db,
  idOrEmail: string,
  change: UserChange,
  by: AuditActor,
): Promise<User> {
  if (change.name?.trim() === '') throw new AccountError('The name must not be empty.');
  if (change.password !== undefined) checkPassword(change.password);
  const hash = change.password === undefined ? null : await hashPassword(change.password);
  return db.transaction().execute(async (trx) => {
    const administrators = await countAdministrators(trx);
    const before = await findUser(trx, normalizeEmail(idOrEmail));
    if (!before) throw new AccountError(`There is no account "${idOrEmail}".`);
    const { id } = before;
    const after = {
      ...before,
      ...(change.name !== undefined && { name: change.name.trim() }),
      ...(change.role !== undefined && { role: change.role }),
      ...(change.disabled !== undefined && {
        disabledAt: change.disabled ? (before.disabledAt ?? by.now) : null,
      }),
      ...(change.withoutTwoFactor && { twoFactor: false }),
    };
    const wasAdministrator = before.role === 'administrator' && !before.disabledAt;
    const isAdministrator = after.role === 'administrator' && !after.disabledAt;
    if (wasAdministrator && !isAdministrator && administrators === 1)
      throw new AccountError('The last administrator must stay one.');
    await updateUser(trx, after);
    if (hash !== null) await writePassword(trx, id, hash, 'another');
    if (change.withoutTwoFactor) await deleteTwoFactor(trx, id);
    if (change.withoutIdentity) await unlinkIdentities(trx, id);
    const isAnother = after.role !== before.role || after.disabledAt !== null || before.disabledAt !== null;
    if (hash !== null || isAnother) await deleteSessions(trx, id);
    await audit(
      trx,
      'user.change',
      id,
      shown(before),
      {
        ...shown(after),
        ...(hash && { password: 'changed' }),
        ...(change.withoutIdentity && { identity: 'unlinked' }),
      },
      by,
    );
    return after;
  });
}

function shown({ email, name, role, disabledAt, twoFactor }: User) {
  return { email, name, role, disabled: disabledAt !== null, twoFactor };
}

export async function audit(
  trx: Transaction<Tables>,
  action: 'user.create' | 'user.change' | 'session.create' | 'session.refuse' | 'session.end',
  userId: string,
  before: unknown,
  after: unknown,
  by: AuditActor,
): Promise<void> {
  const object = { kind: 'user' as const, id: userId };
  await writeAudit(trx, by, { action, object, before, after, reason: null });
}

/** Sets the TLP ceiling of a role, from the next request on. */
export async function setCeiling(db: Db, role: Role, tlpCeiling: Tlp, by: AuditActor): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const before = (await listRoles(trx)).find((known) => known.role === role);
    if (before?.tlpCeiling === tlpCeiling) return;
    await writeCeiling(trx, role, tlpCeiling);
    await writeAudit(trx, by, {
      action: 'role.change',
      object: { kind: 'role', id: role },
      before: { tlpCeiling: before?.tlpCeiling },
      after: { tlpCeiling },
      reason: null,
    });
  });
}

const FIRST_START_MS = 3_600_000;

/**
 * Returns a token that lets somebody become the first administrator, once and within the hour; null when
 * there is an account already. Each node offers its own token: the first one used invalidates all of them.
 */
export async function offerFirstStart(db: Db, now: Date): Promise<string | null> {
  if (await hasUsers(db)) return null;
  const token = newToken();
  await deleteFirstStarts(db, now);
  await writeFirstStart(db, hashToken(token), new Date(now.getTime() + FIRST_START_MS));
  return token;
}

/**
 * Creates the first administrator.
 * @throws {AccountError} when the token is not valid, or no longer, and as `createUser` does
 */
export async function acceptFirstStart(
  db: Db,
  token: string,
  wanted: Omit<NewUser, 'role'>,
  { address, now }: Omit<AuditActor, 'who'>,
): Promise<User> {
  const { password, ...user } = checked({ ...wanted, role: 'administrator' });
  // The token is checked before the password is hashed, so that guessed tokens do not cause that expensive work.
  await requireFirstStart(db, token, now);
  const hash = await hashPassword(password);
  return db.transaction().execute(async (trx) => {
    await requireFirstStart(trx, token, now);
    return insert(trx, user, { hash, setBy: 'owner' }, { who: user.email, address, now });
  });
}

async function requireFirstStart(db: Db, token: string, now: Date): Promise<void> {
  const until = await findFirstStart(db, hashToken(token));
  if (until === null || until <= now || (await hasUsers(db)))
    throw new AccountError('This link is used up or too old. A restart of the server prints another.');
}
