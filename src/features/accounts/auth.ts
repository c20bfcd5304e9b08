import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/open.ts';
import { PASSWORD_LENGTH } from '../../model/account.ts';
import { hashPassword, verifyPassword } from './password.ts';

/** Where better-auth's own paths stand; requests are made for it here, none is handed through as it came. */
const AUTH_ORIGIN = 'http://tipline.internal';
const AUTH_PATH = '/auth';

const SESSION_SECONDS = 7 * 86_400;
const RENEWED_AFTER_SECONDS = 86_400;

export interface AuthSettings {
  /** Signs cookies, encrypts two-factor secrets. */
  secret: string;
  /** Cookies for TLS alone. */
  secure: boolean;
}

/** better-auth on a database or, to write what it does together with the audit, on a transaction. */
export type Auth = Awaited<ReturnType<typeof openAuth>>;

/**
 * @param verified the stored hash of a password that was found right just now: deriving it again would hold the
 *   transaction
 */
export async function openAuth(db: Db, { secret, secure }: AuthSettings, verified?: string) {
  // Half a second of modules that only a server needs.
  const [{ betterAuth }, { twoFactor }] = await Promise.all([
    import('better-auth'),
    import('better-auth/plugins/two-factor'),
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
      twoFactor({
        issuer: 'Tipline',
        twoFactorTable: 'app_two_factor',
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
          twoFactor: {
            modelName: 'app_two_factor',
            fields: { backupCodes: 'backup_codes', userId: 'user_id' },
          },
        },
      }),
    ],
  });
}

/** A request for one of better-auth's paths, with nothing of the caller's but cookies and what stands in `from`. */
export function authRequest(
  path: string,
  from: { cookie: string | undefined; address: string; userAgent: string },
  body: object = {},
): Request {
  return new Request(`${AUTH_ORIGIN}${AUTH_PATH}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': from.address,
      'user-agent': from.userAgent,
      ...(from.cookie !== undefined && { cookie: from.cookie }),
    },
    body: JSON.stringify(body),
  });
}
