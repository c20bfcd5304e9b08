import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { ROLES, sameSitePath } from '../model/account.ts';
import { SecretError } from '../secrets/secret-box.ts';
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
import { finishOidc, startOidc } from './oidc-sign-in.ts';
import { hashPassword } from './password.ts';
import * as sessions from './sessions.queries.ts';
import {
  confirmSignIn,
  countAttempt,
  ofAddress,
  recordRefusal,
  refundAttempts,
  requirePassword,
  signIn,
} from './sign-in.ts';
import { confirmTwoFactor } from './two-factor.queries.ts';
import { startTwoFactor, takeCode } from './two-factor.ts';

const DONE = { done: true } as const;

/** Routes for signing in and out, one's own account and, for administrators, all accounts. */
export async function accountRoutes(instance: FastifyInstance, auth: Authentication): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { by, clientOf, oidc } = auth;
  const { db, rateLimits, clock } = auth.signIn;
  app.route({
    ...routeOf(operations.readSession, 'public'),
    handler: async (request, reply) => ({
      account: await auth.findAccount(request, reply),
      firstStart: !(await accounts.hasUsers(db)),
      signInWith: oidc?.oidc.name ?? null,
    }),
  });

  app.route({
    ...routeOf(operations.firstStart, 'public'),
    handler: async (request, reply) => {
      const { token, ...user } = request.body;
      const from = { address: clientOf(request, reply).address, now: clock() };
      await acceptFirstStart(db, token, user, from).catch(asConflict);
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.signIn, 'public'),
    handler: async (request, reply) => {
      const client = clientOf(request, reply);
      const result = await signIn(auth.signIn, request.body, client);
      if (result) return result;
      void recordRefusal(auth.signIn, request.body.email, client).catch((err) =>
        request.log.error({ err }, 'a refused sign-in is missing from the audit'),
      );
      throw new ApiError('invalid_credentials');
    },
  });

  app.route({
    ...routeOf(operations.confirmSignIn, 'public'),
    handler: async (request, reply) => {
      const remedy = 'an administrator must remove it';
      const isRight = await confirmSignIn(auth.signIn, request.body, clientOf(request, reply)).catch(
        asUncheckable(request, remedy),
      );
      if (!isRight)
        throw new ApiError(
          'invalid_credentials',
          'The code is wrong, used up or too old. Sign in again for another try.',
        );
      return DONE;
    },
  });

  /** Drops the response schema of the redirects to and from the provider, because neither is JSON. */
  const redirecting = <T extends { schema: object }>(route: T) => ({
    ...route,
    schema: { ...route.schema, response: {} },
  });

  app.get('/app/oidc/start', redirecting(routeOf(operations.startOidc, 'public')), async (request, reply) => {
    if (!oidc) throw new ApiError('not_found');
    // Other sites can trigger this request any number of times; only a navigation comes from a person.
    if ((request.headers['sec-fetch-mode'] ?? 'navigate') !== 'navigate') throw new ApiError('cross_origin');
    const client = clientOf(request, reply);
    await countAttempt(rateLimits, [ofAddress('provider', client.address)]);
    const url = await startOidc(oidc, sameSitePath(request.query.to), client).catch((err) => {
      request.log.error({ err }, 'the OpenID provider cannot be reached');
      return '/sign-in?error=provider';
    });
    return reply.redirect(url);
  });

  const finishRoute = redirecting(routeOf(operations.finishOidc, 'public'));
  app.get(
    '/app/oidc/callback',
    // The code is the provider's word for the user, until it is used.
    { ...finishRoute, config: { ...finishRoute.config, hasSecretQuery: true } },
    async (request, reply) => {
      if (!oidc) throw new ApiError('not_found');
      const client = clientOf(request, reply);
      const attempt = ofAddress('provider', client.address);
      await countAttempt(rateLimits, [attempt]);
      const query = new URLSearchParams(request.query as Record<string, string>);
      const result = await finishOidc(oidc, query, client).catch((err) => {
        request.log.error({ err }, 'signing in with the provider failed');
        return null;
      });
      if (!result) return reply.redirect('/sign-in?error=provider');
      if (result.outcome === 'refused') {
        request.log.warn({ why: result.why }, 'signing in with the provider was refused');
        return reply.redirect('/sign-in?error=refused');
      }
      // Both requests of this sign-in have counted an attempt: its start and its callback.
      await refundAttempts(rateLimits, [attempt, attempt]);
      return reply.redirect(sameSitePath(result.to));
    },
  );

  /** @param which the id of a session, or `all` */
  const endSessions = (request: FastifyRequest, which: string) =>
    db.transaction().execute(async (trx) => {
      const { id } = request.account;
      if (which === 'all') await sessions.deleteSessions(trx, id);
      else if (!(await sessions.deleteSession(trx, id, which))) throw new ApiError('not_found');
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
    handler: async (request) => ({ data: await sessions.listSessions(db, request.account.id, clock()) }),
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
      await requirePassword(auth.signIn, request.account, password);
      if (newPassword === password)
        throw new ApiError('invalid_parameter', 'The new password must be another than the one before.');
      const hash = await hashPassword(newPassword);
      const { id, sessionId } = request.account;
      await db.transaction().execute(async (trx) => {
        await accounts.writePassword(trx, id, hash, 'owner');
        await sessions.deleteSessions(trx, id, sessionId);
        await audit(trx, 'user.change', id, null, { password: 'changed' }, by(request));
      });
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.startTwoFactor, 'viewer'),
    handler: async (request) => {
      const { account } = request;
      // A confirmed secret is never replaced, so a new one would not be stored.
      if (account.twoFactor) throw new ApiError('conflict', 'The second factor is on: turn it off first.');
      await requirePassword(auth.signIn, account, request.body.password);
      return db.transaction().execute((trx) => startTwoFactor(auth.signIn, trx, account));
    },
  });

  app.route({
    ...routeOf(operations.confirmTwoFactor, 'viewer'),
    handler: async (request) => {
      const { id, sessionId, twoFactor } = request.account;
      if (twoFactor) throw new ApiError('conflict', 'The second factor is on already.');
      const now = clock();
      const confirm = db.transaction().execute(async (trx) => {
        if (!(await takeCode(auth.signIn, trx, id, request.body.code, { isConfirmed: false, now })))
          return false;
        await confirmTwoFactor(trx, id, now);
        // The other sessions were opened with the password alone.
        await sessions.deleteSessions(trx, id, sessionId);
        await audit(trx, 'user.change', id, { twoFactor: false }, { twoFactor: true }, by(request));
        return true;
      });
      if (!(await confirm.catch(asUncheckable(request, 'start again'))))
        throw new ApiError('invalid_parameter', 'The code is wrong.');
      return DONE;
    },
  });

  app.route({
    ...routeOf(operations.endTwoFactor, 'viewer'),
    handler: async (request) => {
      await requirePassword(auth.signIn, request.account, request.body.password);
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

/** Reports a second factor that was encrypted with another TIPLINE_SECRET as a conflict, and in the log. */
const asUncheckable =
  (request: FastifyRequest, remedy: string) =>
  (error: unknown): never => {
    if (!(error instanceof SecretError)) throw error;
    request.log.warn({ err: error }, 'a second factor cannot be checked');
    throw new ApiError('conflict', `The second factor cannot be checked: ${remedy}.`);
  };
