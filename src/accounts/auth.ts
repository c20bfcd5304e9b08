import { randomUUID } from 'node:crypto';
import type { GenericOAuthConfig } from 'better-auth/plugins/generic-oauth';
import type { Db } from '../db/database.ts';
import { PASSWORD_LENGTH } from '../model/account.ts';
import type { Identity, OidcProvider } from './oidc.ts';
import { hashPassword, verifyPassword } from './password.ts';

/**
 * Base of better-auth's own paths. Requests for them are constructed here; none is passed through from a
 * client.
 */
const AUTH_ORIGIN = 'http://tipline.internal';
const AUTH_PATH = '/auth';

export const OIDC_PROVIDER = 'oidc';

const SESSION_SECONDS = 7 * 86_400;
const RENEWED_AFTER_SECONDS = 86_400;

export interface AuthSettings {
  /** Signs cookies, encrypts two-factor secrets. */
  secret: string;
  /** Whether cookies are sent over TLS only. */
  secure: boolean;
  /** null: only passwords. */
  oidc: OidcProvider | null;
}

/** better-auth on a database or, to commit its writes together with the audit, on a transaction. */
export type Auth = Awaited<ReturnType<typeof openAuth>>;

/**
 * @param verified the stored hash of a password that has just been verified: deriving it again would hold the
 *   transaction
 */
export async function openAuth(db: Db, { secret, secure, oidc }: AuthSettings, verified?: string) {
  // Loading these modules takes half a second, and only a server needs them.
  const [{ betterAuth }, { twoFactor }, { genericOAuth }] = await Promise.all([
    import('better-auth'),
    import('better-auth/plugins/two-factor'),
    import('better-auth/plugins/generic-oauth'),
  ]);
  const dates = { createdAt: 'created_at', updatedAt: 'updated_at' };
  return betterAuth({
    appName: 'Tipline',
    database: { db, type: 'postgres' },
    secret,
    baseURL: AUTH_ORIGIN,
    basePath: AUTH_PATH,
    telemetry: { enabled: false },
    logger: { disabled: true },
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: 'tipline',
      useSecureCookies: secure,
      // The application has compared the origin with the host before.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      database: { generateId: () => randomUUID() },
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict' },
      // The provider's redirect back is cross-site, where browsers send no strict cookie.
      cookies: { state: { attributes: { sameSite: 'lax' } } },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.minLength,
      maxPasswordLength: PASSWORD_LENGTH.maxLength,
      password: {
        hash: hashPassword,
        verify: async ({ password, hash }) => hash === verified || verifyPassword(password, hash),
      },
    },
    user: {
      modelName: 'app_user',
      fields: { ...dates, emailVerified: 'email_verified' },
    },
    session: {
      modelName: 'app_session',
      fields: {
        ...dates,
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
      expiresIn: SESSION_SECONDS,
      updateAge: RENEWED_AFTER_SECONDS,
    },
    account: {
      // An identity is linked to an account only if the provider has verified its e-mail address. Users
      // cannot sign up: administrators enter every address, so no account was claimed by somebody else
      // (GHSA-g38m-r43w-p2q7).
      accountLinking: { enabled: true, trustedProviders: [], requireLocalEmailVerified: false },
      modelName: 'app_credential',
      fields: {
        ...dates,
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
      },
    },
    verification: { modelName: 'app_verification', fields: { ...dates, expiresAt: 'expires_at' } },
    plugins: [
      genericOAuth({ config: oidc ? [await oidcConfig(oidc)] : [] }),
      twoFactor({
        issuer: 'Tipline',
        twoFactorTable: 'app_two_factor',
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
          twoFactor: {
            modelName: 'app_two_factor',
            fields: {
              backupCodes: 'backup_codes',
              userId: 'user_id',
              failedVerificationCount: 'failed_verification_count',
              lockedUntil: 'locked_until',
            },
          },
        },
      }),
    ],
  });
}

/** Returns the settings of the OAuth plugin. Only administrators create accounts: signing in never does. */
async function oidcConfig(oidc: OidcProvider): Promise<GenericOAuthConfig> {
  const { authorization, token } = await oidc.endpoints();
  return {
    providerId: OIDC_PROVIDER,
    clientId: oidc.clientId,
    authorizationUrl: authorization,
    tokenUrl: token,
    redirectURI: oidc.redirectUri,
    scopes: ['openid', 'email', 'profile'],
    pkce: true,
    disableSignUp: true,
    // The provider's tokens are used here and never stored.
    getToken: async ({ code, codeVerifier }) => ({
      raw: { identity: await oidc.exchange(code, codeVerifier) },
    }),
    getUserInfo: async ({ raw }) => {
      const { subject, ...identity } = (raw as { identity: Identity }).identity;
      return { id: subject, ...identity };
    },
  };
}

/**
 * Returns a request for one of better-auth's paths. Of the client's request it carries only the cookies, the
 * address and the user agent in `from`.
 */
export function authRequest(
  path: string,
  from: { cookie: string | undefined; address: string; userAgent: string },
  body: object | null = {},
): Request {
  return new Request(`${AUTH_ORIGIN}${AUTH_PATH}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': from.address,
      'user-agent': from.userAgent,
      ...(from.cookie !== undefined && { cookie: from.cookie }),
    },
    body: body && JSON.stringify(body),
  });
}
