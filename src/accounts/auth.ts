import { randomUUID } from 'node:crypto';
import type { GenericOAuthConfig } from 'better-auth/plugins/generic-oauth';
import type { Db } from '../db/database.ts';
import { PASSWORD_LENGTH } from '../model/account.ts';
import type { Identity, OidcProvider } from './oidc.ts';
import { hashPassword, verifyPassword } from './password.ts';

/** Where better-auth's own paths stand; requests are made for it here, none is handed through as it came. */
const AUTH_ORIGIN = 'http://tipline.internal';
const AUTH_PATH = '/auth';

export const OIDC_PROVIDER = 'oidc';

const SESSION_SECONDS = 7 * 86_400;
const RENEWED_AFTER_SECONDS = 86_400;

export interface AuthSettings {
  /** Signs cookies, encrypts two-factor secrets. */
  secret: string;
  /** Cookies for TLS alone. */
  secure: boolean;
  /** null: passwords alone. */
  oidc: OidcProvider | null;
}

/** better-auth on a database or, to write what it does together with the audit, on a transaction. */
export type Auth = Awaited<ReturnType<typeof openAuth>>;

/**
 * @param verified the stored hash of a password that was found right just now: deriving it again would hold the
 *   transaction
 */
export async function openAuth(db: Db, { secret, secure, oidc }: AuthSettings, verified?: string) {
  // Half a second of modules that only a server needs.
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
      // Whoever asks has passed the gate of the application, which compares the origin with the host.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      database: { generateId: () => randomUUID() },
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict' },
      // The provider sends browsers back: from elsewhere.
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
      // Only whose address the provider vouches for is taken for the owner of an account.
      // Nobody signs up: administrators enter every address, so none was claimed by somebody else (GHSA-g38m-r43w-p2q7).
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

/** Accounts are made by administrators: who has none does not get one by signing in. */
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
    // What it sends is used up here; nothing of it is kept.
    getToken: async ({ code, codeVerifier }) => ({
      raw: { identity: await oidc.exchange(code, codeVerifier) },
    }),
    getUserInfo: async ({ raw }) => {
      const { subject, ...identity } = (raw as { identity: Identity }).identity;
      return { id: subject, ...identity };
    },
  };
}

/** A request for one of better-auth's paths, with nothing of the caller's but cookies and what stands in `from`. */
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
