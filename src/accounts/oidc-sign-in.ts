import type { Transaction } from 'kysely';
import type { Tables } from '../db/tables.ts';
import { normalizeEmail } from '../model/account.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import {
  findLinkedUser,
  findUser,
  hasIdentityOf,
  linkIdentity,
  lockEnabled,
  type User,
} from './accounts.queries.ts';
import { audit } from './accounts.service.ts';
import { type Identity, type OidcChecks, OidcError, type OidcProvider } from './oidc.ts';
import type { Client } from './sessions.ts';
import { by, enter, type SignInDeps } from './sign-in.ts';

export interface OidcDeps extends SignInDeps {
  oidc: OidcProvider;
  /** Encrypts the cookie that exists while the browser is at the provider. */
  oidcCookies: SecretBox;
}

interface Started extends OidcChecks {
  /** The path in the application to open afterwards. */
  to: string;
}

/**
 * Starts a sign-in with the provider.
 * @param to the path in the application to open afterwards
 * @returns the address to send the browser to
 */
export async function startOidc(
  { oidc, oidcCookies }: OidcDeps,
  to: string,
  { cookies }: Client,
): Promise<string> {
  const { url, checks } = await oidc.authorize();
  cookies.set('oidc', oidcCookies.seal(JSON.stringify({ ...checks, to } satisfies Started)));
  return url;
}

export type OidcResult = { outcome: 'signed-in'; to: string } | { outcome: 'refused'; why: string };

/** Completes a sign-in with the provider, from the query of its redirect. */
export async function finishOidc(
  deps: OidcDeps,
  query: URLSearchParams,
  client: Client,
): Promise<OidcResult> {
  const { db, oidc, oidcCookies, clock } = deps;
  const started = readStarted(oidcCookies, client.cookies.read('oidc'));
  client.cookies.clear('oidc');
  if (!started) return { outcome: 'refused', why: 'no sign-in was started in this browser' };
  // The provider may be slow: no transaction waits for it.
  const identity = await oidc.identify(query, started).catch((error: unknown) => {
    if (error instanceof OidcError) return error;
    throw error;
  });
  if (identity instanceof OidcError) return { outcome: 'refused', why: identity.message };
  return db.transaction().execute(async (trx) => {
    const linked = await findLinkedUser(trx, identity);
    const user = await userOf(trx, identity, linked);
    if (!user) return { outcome: 'refused' as const, why: 'no account with this verified e-mail address' };
    if (!(await lockEnabled(trx, user.id)))
      return { outcome: 'refused' as const, why: 'the account is disabled' };
    // Another sign-in may have linked it before the account was locked.
    if (linked === undefined && (await findLinkedUser(trx, identity)) === undefined) {
      // The address may have passed to another person since.
      if (await hasIdentityOf(trx, user.id, identity.issuer))
        return { outcome: 'refused' as const, why: 'the account is linked to another identity' };
      await linkIdentity(trx, user.id, identity);
      await audit(trx, 'user.change', user.id, null, { identity: 'linked' }, by(user, client, clock()));
    }
    await enter(trx, user, { after: { with: 'oidc' }, byProvider: true }, client, clock());
    return { outcome: 'signed-in' as const, to: started.to };
  });
}

function readStarted(oidcCookies: SecretBox, sealed: string | undefined): Started | null {
  try {
    return sealed === undefined ? null : JSON.parse(oidcCookies.open(sealed));
  } catch {
    return null;
  }
}

/**
 * Returns the user that an identity is linked to; for an identity that is not linked, the one with its e-mail
 * address, if the provider has verified that. Signing in never creates an account.
 */
async function userOf(
  trx: Transaction<Tables>,
  { email, emailVerified }: Identity,
  linked: string | undefined,
): Promise<User | undefined> {
  if (linked !== undefined) return findUser(trx, linked);
  return emailVerified ? findUser(trx, normalizeEmail(email)) : undefined;
}
