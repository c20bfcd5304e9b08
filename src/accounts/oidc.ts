import type { Clock } from '../clock.ts';
import { httpUrl } from '../model/http-url.ts';
import type { Outbound, OutboundRequest } from '../outbound/outbound.ts';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The name on the button: Sign in with … */
  name: string;
  /** The address at which browsers reach the application, without a path. */
  publicAddress: string;
  /** Whether to accept an e-mail address if the provider does not state that it is verified. */
  trustEmail: boolean;
}

export interface Identity {
  /** The provider's identifier of the person, which never changes. */
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string;
}

export interface OidcProvider {
  name: string;
  clientId: string;
  clientSecret: string;
  /** The address that the provider redirects browsers to. */
  redirectUri: string;
  /** @throws {OidcError} when the provider cannot be reached, or is another issuer */
  endpoints(): Promise<Endpoints>;
  /** @throws {OidcError} when the code is invalid, or the ID token is not for this client */
  exchange(code: string, codeVerifier: string | undefined): Promise<Identity>;
}

interface Endpoints {
  authorization: string;
  token: string;
}

/** Thrown when the provider fails or violates the protocol; the message is for the log. */
export class OidcError extends Error {
  override name = 'OidcError';
}

const OIDC_CALLBACK = '/app/oidc/callback';
const HOUR_MS = 3_600_000;
const LIMITS = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };
/** Tolerance for the difference of two machines' clocks. */
const LEEWAY_SECONDS = 60;

/**
 * Returns a client for OpenID Connect Core 1.0 and Discovery 1.0, with the authorization code flow. All
 * requests go through the outbound client.
 */
export function openOidc(
  settings: OidcSettings,
  outbound: Pick<Outbound, 'request'>,
  clock: Clock,
): OidcProvider {
  const { issuer, clientId, clientSecret, name, publicAddress, trustEmail } = settings;
  const redirectUri = publicAddress + OIDC_CALLBACK;
  let known: { at: number; endpoints: Promise<Endpoints> } | undefined;
  const endpoints = () => {
    const now = clock().getTime();
    if (!known || now - known.at > HOUR_MS) {
      const discovered = discover(issuer, outbound);
      known = { at: now, endpoints: discovered };
      // A failed discovery is not cached: the next caller repeats it.
      discovered.catch(() => {
        if (known?.endpoints === discovered) known = undefined;
      });
    }
    return known.endpoints;
  };
  return {
    name,
    clientId,
    clientSecret,
    redirectUri,
    endpoints,
    async exchange(code, codeVerifier) {
      const { token } = await endpoints();
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        ...(codeVerifier !== undefined && { code_verifier: codeVerifier }),
      });
      const answer = await readJson(outbound, {
        url: token,
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        credentials: { authorization: basic(clientId, clientSecret) },
        body: body.toString(),
        ...LIMITS,
      });
      return identityOf(claimsOf(answer.id_token), { issuer, clientId, trustEmail, now: clock() });
    },
  };
}

/** RFC 6749 §2.3.1: both parts are form-encoded first. */
function basic(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}

async function discover(issuer: string, outbound: Pick<Outbound, 'request'>): Promise<Endpoints> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const found = await readJson(outbound, { url, headers: { accept: 'application/json' }, ...LIMITS });
  // Discovery 1.0 §4.3: the issuer must equal the configured one exactly.
  if (found.issuer !== issuer)
    throw new OidcError(`the provider calls itself ${JSON.stringify(found.issuer)}, not ${issuer}`);
  return {
    authorization: address(found.authorization_endpoint, 'authorization_endpoint'),
    token: address(found.token_endpoint, 'token_endpoint'),
  };
}

function address(value: unknown, name: string): string {
  const url = typeof value === 'string' ? httpUrl(value) : null;
  if (!url) throw new OidcError(`the provider's ${name} is no address`);
  return url.href;
}

async function readJson(
  outbound: Pick<Outbound, 'request'>,
  wanted: OutboundRequest,
): Promise<Record<string, unknown>> {
  const { status, body } = await outbound.request(wanted);
  if (status !== 200) throw new OidcError(`the provider answered with ${status}`);
  return asObject(body.toString('utf8'), 'the answer of the provider');
}

function asObject(text: string, what: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new OidcError(`${what} is no JSON object`);
}

/**
 * Returns the claims of an ID token. It comes directly from the token endpoint, so TLS takes the place of
 * verifying its signature (Core §3.1.3.7, 6).
 */
function claimsOf(idToken: unknown): Record<string, unknown> {
  const [, payload] = typeof idToken === 'string' ? idToken.split('.') : [];
  if (!payload) throw new OidcError('the provider sent no ID token');
  return asObject(Buffer.from(payload, 'base64url').toString('utf8'), 'the ID token');
}

interface Expected extends Pick<OidcSettings, 'issuer' | 'clientId' | 'trustEmail'> {
  now: Date;
}

/** Checks issuer, audience and expiry of the claims (Core §3.1.3.7). */
function identityOf(
  claims: Record<string, unknown>,
  { issuer, clientId, trustEmail, now }: Expected,
): Identity {
  const { iss, aud, azp, exp, sub, email, email_verified: verified, name } = claims;
  if (iss !== issuer) throw new OidcError('the ID token is another issuer’s');
  const audiences = [aud].flat();
  if (!audiences.includes(clientId) || (azp !== undefined && azp !== clientId))
    throw new OidcError('the ID token is for somebody else');
  if (typeof exp !== 'number' || exp + LEEWAY_SECONDS < now.getTime() / 1000)
    throw new OidcError('the ID token has expired');
  if (typeof sub !== 'string' || sub === '') throw new OidcError('the ID token names nobody');
  if (typeof email !== 'string' || email === '')
    throw new OidcError('the ID token has no e-mail address: the scope email must give it');
  return {
    subject: sub,
    email,
    emailVerified: verified === true || verified === 'true' || (verified === undefined && trustEmail),
    name: typeof name === 'string' && name !== '' ? name : email,
  };
}
