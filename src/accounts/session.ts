import type { Db } from '../db/database.ts';
import type { Account } from '../model/account.ts';
import { findRights } from './accounts.queries.ts';
import type { Auth } from './auth.ts';

/**
 * Returns the account that the cookies of a request belong to, with the cookies that renew the session when
 * that is due.
 * @returns null when there is no session, or the account is disabled
 */
export async function findAccount(
  db: Db,
  auth: Auth,
  cookie: string | undefined,
): Promise<{ account: Account; cookies: string[] } | null> {
  if (cookie === undefined) return null;
  const headers = new Headers({ cookie });
  const { response, headers: answered } = await auth.api.getSession({ headers, returnHeaders: true });
  if (!response) return null;
  const { user, session } = response;
  const rights = await findRights(db, user.id, session.id);
  if (!rights) return null;
  const twoFactor = (user as { twoFactorEnabled?: boolean | null }).twoFactorEnabled === true;
  const { id, email, name } = user;
  return {
    account: { id, email, name, ...rights, twoFactor, sessionId: session.id },
    cookies: answered.getSetCookie(),
  };
}
