import type { Configuration, CustomFetch } from 'openid-client';
import type { Clock } from '../clock.ts';
import { type Outbound, OutboundError } from '../outbound/outbound.ts';
import type { IdentityKey } from './accounts.queries.ts';

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

export interface Identity extends IdentityKey {
  email: string;
  emailVerified: boolean;
}

/** Values of an authorization request that its response must match. */
export interface OidcChecks {
  state: string;
  nonce: string;
  codeVerifier: string;
}

export interface OidcProvider {
  name: string;
  /**
   * Begins a sign-in.
   * @returns the address to send the browser to
   * @throws when the provider cannot be reached, or is another issuer
   */
  authorize(): Promise<{ url: string; checks: OidcChecks }>;
  /**
   * Completes a sign-in from the query of the provider's redirect.
   * @throws {OidcError} when the response or the ID token is invalid
   * @throws {OutboundError} when the provider cannot be reached
   */
  identify(query: URLSearchParams, checks: OidcChecks): Promise<Identity>;
}

/** Thrown when the provider refuses or violates the protocol; the message is for the log. */
export class OidcError extends Error {
  override name = 'OidcError';
}

const OIDC_CALLBACK = '/app/oidc/callback';
const HOUR_MS = 3_600_000;
const LIMITS = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };
/** Tolerance for the difference of two machines' clocks. */
const TOLERANCE_SECONDS = 60;

/**
 * Returns a client for OpenID Connect Core 1.0 and Discovery 1.0: authorization code flow with PKCE, state and
 * nonce; ID tokens with an asymmetric signature of the issuer. All requests go through the outbound client.
 */
export function openOidc(
  settings: OidcSettings,
  outbound: Pick<Outbound, 'request'>,
  clock: Clock,
): OidcProvider {
  const redirectUri = settings.publicAddress + OIDC_CALLBACK;
  let discovered: { at: number; configuration: Promise<Configuration> } | undefined;
  const configuration = () => {
    const now = clock().getTime();
    if (!discovered || now - discovered.at > HOUR_MS) {
      const current = { at: now, configuration: discover(settings, outbound, clock) };
      discovered = current;
      // A failed discovery is not cached: the next caller repeats it.
      current.configuration.catch(() => {
        if (discovered === current) discovered = undefined;
      });
    }
    return discovered.configuration;
  };
  return {
    name: settings.name,
    async authorize() {
      const [client, config] = await Promise.all([import('openid-client'), configuration()]);
      const checks = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(checks.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, checks };
    },
    async identify(query, { state, nonce, codeVerifier }) {
      const [client, config] = await Promise.all([import('openid-client'), configuration()]);
      const tokens = await client
        .authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
        })
        .catch(asOidcError);
      return identityOf(tokens.claims() ?? {}, settings);
    },
  };
}

async function discover(
  { issuer, clientId, clientSecret }: OidcSettings,
  outbound: Pick<Outbound, 'request'>,
  clock: Clock,
): Promise<Configuration> {
  const client = await import('openid-client');
  const metadata = {
    [client.clockTolerance]: TOLERANCE_SECONDS,
    [client.clockSkew]: Math.round((clock().getTime() - Date.now()) / 1000),
  };
  const server = new URL(issuer);
  return client
    .discovery(server, clientId, metadata, client.ClientSecretBasic(clientSecret), {
      [client.customFetch]: fetchOver(outbound),
      execute: [
        client.enableNonRepudiationChecks,
        // The settings allow an issuer without TLS on this machine only.
        ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    })
    .catch(asOidcError);
}

/** Returns the outbound client as a `fetch`: credentials are sent to the origin of the URL alone. */
function fetchOver(outbound: Pick<Outbound, 'request'>): CustomFetch {
  return async (url, { method, headers, body }) => {
    const { authorization, ...others } = headers;
    const answer = await outbound.request({
      url,
      ...(method === 'POST' && { method }),
      headers: others,
      ...(authorization !== undefined && { credentials: { authorization } }),
      ...(body != null && { body: String(body) }),
      ...LIMITS,
    });
    return new Response(answer.body.toString('utf8'), { status: answer.status, headers: answer.headers });
  };
}

/** Throws an error of openid-client as an `OidcError`, and one of the outbound client as it is. */
function asOidcError(error: unknown): never {
  const messages: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof OutboundError) throw cause;
    messages.push(cause.message);
  }
  throw new OidcError(messages.join(': ') || 'the provider failed');
}

function identityOf(
  claims: Record<string, unknown>,
  { issuer, clientId, trustEmail }: OidcSettings,
): Identity {
  const { sub, azp, email, email_verified: verified } = claims;
  // OpenID Connect Core §3.1.3.7, step 5; openid-client checks it only in tokens for several audiences.
  if (azp !== undefined && azp !== clientId) throw new OidcError('the ID token is for another client');
  if (typeof sub !== 'string' || sub === '') throw new OidcError('the ID token has no subject');
  if (typeof email !== 'string' || email === '')
    throw new OidcError('the ID token has no e-mail address: the scope email must give it');
  return {
    issuer,
    subject: sub,
    email,
    // Some providers send the text `true`.
    emailVerified: verified === true || verified === 'true' || (verified === undefined && trustEmail),
  };
}
