import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/operation.ts';
import { ROLES } from '../model/account.ts';
import { sameSitePath } from '../model/same-site-path.ts';
import type { RateLimitStore } from '../rate-limit/store.ts';
import * as accounts from './accounts.queries.ts';
import * as operations from './accounts.schema.ts';
import {
  AccountError,
  acceptFirstStart,
  audit,
  changeUser,
  createUser,
  setCeiling,
} from './accounts.service.ts';
import type { Authentication } from './authentication.ts';
import { hashPassword, verifyPassword } from './password.ts';
import {
  confirmSignIn,
  finishOidc,
  noteRefusal,
  type SignInResult,
  signIn,
  startOidc,
  takeCode,
  tooManyAttempts,
} from './sign-in.ts';

const DONE = { done: true } as const;

interface Deps {
  db: Db;
  kv: RateLimitStore;
  clock: Clock;
  auth: Authentication;
}

/** Routes for signing in and out, one's own account and, for administrators, all accounts. */
export async function accountRoutes(instance: FastifyInstance, { db, kv, clock, auth }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { by } = auth;
  app.route({
    ...routeOf(operations.readSession, 'public'),
    handler: async (request, reply) => ({
      account: await auth.findAccount(request, reply),
      firstStart: !(await accounts.hasUsers(db)),
      signInWith: auth.signInWith,
    }),
  });

  app.route({
    ...routeOf(operations.firstStart, 'public'),
    handler: async (request) => {
      const { token, ...user } = request.body;
      const from = { address: auth.addressOf(request), now: clock() };
      await acceptFirstStart(db, token, user, from).catch(asConflict);
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.signIn, 'public'),
    handler: async (request, reply) => {
      const [deps, from] = [auth.signInDeps(request), auth.fromOf(request)];
      const result = await signIn(deps, request.body, from);
      if (result.outcome === 'refused')
        void noteRefusal(deps, request.body.email, from).catch((err) =>
          request.log.error({ err }, 'a refused sign-in is not written down'),
        );
      const outcome = answered(reply, result);
      return { twoFactor: outcome === 'two-factor' };
    },
  });

  app.route({
    ...routeOf(operations.confirmSignIn, 'public'),
    handler: async (request, reply) => {
      const result = await confirmSignIn(auth.signInDeps(request), request.body, auth.fromOf(request));
      if (result.outcome === 'refused')
        throw new ApiError(
          'invalid_credentials',
          'The code is wrong, used up or too old. Sign in again for another try.',
        );
      answered(reply, result);
      return DONE;
    },
  });

  /** Drops the response schema of the redirects to and from the provider, because neither is JSON. */
  const redirecting = <T extends { schema: object }>(route: T) => ({
    ...route,
    schema: { ...route.schema, response: {} },
  });

  app.get('/app/oidc/start', redirecting(routeOf(operations.startOidc, 'public')), async (request, reply) => {
    if (auth.signInWith === null) throw new ApiError('not_found');
    // Other sites can trigger this request any number of times; only a navigation comes from a person.
    if ((request.headers['sec-fetch-mode'] ?? 'navigate') !== 'navigate') throw new ApiError('cross_origin');
    const from = auth.fromOf(request);
    await auth.limitAddress(request);
    const started = await startOidc(auth.oidcDeps(request), sameSitePath(request.query.to), from).catch(
      (err) => {
        request.log.error({ err }, 'the provider of identities cannot be asked');
        return null;
      },
    );
    if (!started) return reply.redirect('/sign-in?error=provider');
    return reply.header('set-cookie', started.cookies).redirect(started.url);
  });

  app.get(
    '/app/oidc/callback',
    redirecting(routeOf(operations.finishOidc, 'public')),
    async (request, reply) => {
      if (auth.signInWith === null) throw new ApiError('not_found');
      await auth.limitAddress(request);
      const query = new URLSearchParams(request.query as Record<string, string>);
      const result = await finishOidc(auth.oidcDeps(request), query, auth.fromOf(request)).catch((err) => {
        request.log.error({ err }, 'signing in with the provider failed');
        return { outcome: 'refused' as const, why: 'provider' };
      });
      if (result.outcome === 'refused') {
        request.log.warn({ why: result.why }, 'signing in with the provider was refused');
        return reply.redirect(`/sign-in?error=${result.why === 'provider' ? 'provider' : 'refused'}`);
      }
      await auth.resetAttempts(request);
      return reply.header('set-cookie', result.cookies).redirect(sameSitePath(result.to));
    },
  );

  /** @param which the id of a session, or `all` */
  const endSessions = (request: FastifyRequest, which: string) =>
    db.transaction().execute(async (trx) => {
      const { id } = request.account;
      if (which === 'all') await accounts.deleteSessions(trx, id);
      else if (!(await accounts.deleteSession(trx, id, which))) throw new ApiError('not_found');
      await audit(trx, 'session.end', id, null, { which }, by(request));
    });

  app.route({
    ...routeOf(operations.signOut, 'signed-in'),
    handler: async (request) => {
      await endSessions(request, request.account.sessionId);
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.signOutEverywhere, 'signed-in'),
    handler: async (request) => {
      await endSessions(request, 'all');
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.listSessions, 'viewer'),
    handler: async (request) => ({ data: await accounts.listSessions(db, request.account.id, clock()) }),
  });

  app.route({
    ...routeOf(operations.endSession, 'viewer'),
    handler: async (request) => {
      await endSessions(request, idOf(request));
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.changePassword, 'signed-in'),
    handler: async (request) => {
      const { password, newPassword } = request.body;
      await requirePassword(request, password);
      if (newPassword === password)
        throw new ApiError('invalid_parameter', 'The new password must be another than the one before.');
      const hash = await hashPassword(newPassword);
      const { id, sessionId } = request.account;
      await db.transaction().execute(async (trx) => {
        await accounts.writePassword(trx, id, hash, 'owner', clock());
        await accounts.deleteSessions(trx, id, sessionId);
        await accounts.deleteSigningIn(trx, id);
        await audit(trx, 'user.change', id, null, { password: 'changed' }, by(request));
      });
      return DONE;
    },
  });

  /**
   * Verifies the password of the signed-in account, with limited attempts: someone at an open session must
   * not be able to guess it.
   * @returns the stored hash
   */
  async function requirePassword(request: FastifyRequest, password: string): Promise<string> {
    const { email, id } = request.account;
    const [key, rateLimit] = [`password:${id}`, { limit: 10, windowSeconds: 900 }];
    const { consumed, msBeforeNext } = await kv.consume(key, rateLimit);
    if (consumed > rateLimit.limit) throw tooManyAttempts(Math.ceil(msBeforeNext / 1000));
    const hash = await accounts.findPasswordHash(db, email);
    if (hash === null || !(await verifyPassword(password, hash)))
      throw new ApiError('invalid_parameter', 'The password is wrong.');
    await kv.refund(key, rateLimit);
    return hash;
  }

  app.route({
    ...routeOf(operations.startTwoFactor, 'viewer'),
    handler: async (request, reply) => {
      // A new secret would replace the one in use before anybody has confirmed it.
      if (request.account.twoFactor)
        throw new ApiError('conflict', 'The second factor is on: turn it off first.');
      const verified = await requirePassword(request, request.body.password);
      const { status, body } = await auth.callAuth(request, reply, '/two-factor/enable', request.body, {
        verified,
      });
      if (status !== 200) throw new ApiError('conflict');
      const { totpURI, backupCodes } = body as { totpURI: string; backupCodes: string[] };
      return { uri: totpURI, backupCodes };
    },
  });

  app.route({
    ...routeOf(operations.confirmTwoFactor, 'viewer'),
    handler: async (request, reply) => {
      if (request.account.twoFactor) throw new ApiError('conflict', 'The second factor is on already.');
      const { id } = request.account;
      const after = { twoFactor: true };
      const { code } = request.body;
      const { status } = await auth.callAuth(request, reply, '/two-factor/verify-totp', request.body, {
        onSuccess: async (trx) => {
          // better-auth opens a new session for this one; the others were opened with the password alone.
          const [own] = await accounts.listSessions(trx, id, clock());
          await accounts.deleteSessions(trx, id, own?.id);
          await takeCode(trx, id, code, clock());
          await audit(trx, 'user.change', id, { twoFactor: false }, after, by(request));
        },
      });
      if (status !== 200) throw new ApiError('invalid_parameter', 'The code is wrong.');
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.endTwoFactor, 'viewer'),
    handler: async (request) => {
      await requirePassword(request, request.body.password);
      await changeUser(db, request.account.id, { withoutTwoFactor: true }, by(request)).catch(asConflict);
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.listUsers, 'administrator'),
    handler: async () => ({ data: await accounts.listUsers(db) }),
  });

  app.route({
    ...routeOf(operations.createUser, 'administrator'),
    handler: async (request) => ({ data: await createUser(db, request.body, by(request)).catch(asConflict) }),
  });

  app.route({
    ...routeOf(operations.changeUser, 'administrator'),
    handler: async (request) => ({
      data: await changeUser(db, idOf(request), request.body, by(request)).catch(asConflict),
    }),
  });

  app.route({
    ...routeOf(operations.listRoles, 'administrator'),
    handler: async () => ({ data: await accounts.listRoles(db) }),
  });

  app.route({
    ...routeOf(operations.changeRole, 'administrator'),
    handler: async (request) => {
      const role = ROLES.find((known) => known === request.params.role);
      if (!role) throw new ApiError('not_found', `There is no such role; there are: ${ROLES.join(', ')}.`);
      const { tlpCeiling } = request.body;
      await setCeiling(db, role, tlpCeiling, by(request));
      return { data: { role, tlpCeiling } };
    },
  });
}

function asConflict(error: unknown): never {
  throw error instanceof AccountError ? new ApiError('conflict', error.message) : error;
}

/** @throws {ApiError} when the sign-in was refused */
function answered(reply: FastifyReply, result: SignInResult): 'signed-in' | 'two-factor' {
  if (result.outcome === 'refused') throw new ApiError('invalid_credentials');
  if (result.outcome === 'too-many') throw tooManyAttempts(result.seconds);
  reply.header('set-cookie', result.cookies);
  return result.outcome;
}
