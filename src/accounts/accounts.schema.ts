import { Type } from 'typebox';
import { instant, instantOrNull, operation } from '../http/routes.ts';
import { nameText, nullable, stringEnum } from '../http/schema.ts';
import { PASSWORD_LENGTH, ROLES } from '../model/account.ts';
import { TLPS } from '../model/vocabulary.ts';

const strict = { additionalProperties: false };
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const email = text(254);
const name = nameText(200);
/** A password that is to be set. */
const newPassword = Type.String(PASSWORD_LENGTH);
/** A password that is to be verified. */
const password = text(PASSWORD_LENGTH.maxLength);
const done = Type.Object({ done: Type.Literal(true) });

/** `mustChangePassword`: everything else is refused until the password is changed. */
const SignedIn = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: stringEnum(ROLES),
  tlpCeiling: stringEnum(TLPS),
  twoFactor: Type.Boolean(),
  mustChangePassword: Type.Boolean(),
  sessionId: Type.String(),
});

/** `firstStart`: there is no account yet. `signInWith`: the name of the OpenID provider, if there is one. */
export const readSession = operation('GET /app/session', {
  answer: Type.Object({
    account: Type.Union([SignedIn, Type.Null()]),
    firstStart: Type.Boolean(),
    signInWith: nullable(Type.String()),
  }),
});

/** Redirects to the provider; `to` is the path in the application to open afterwards. */
export const startOidc = operation('GET /app/oidc/start', {
  query: Type.Object({ to: Type.Optional(text(2000)) }, strict),
  answer: Type.String(),
});

/** The target of the provider's redirect. Parameters beyond these are the provider's own. */
export const finishOidc = operation('GET /app/oidc/callback', {
  query: Type.Object({
    code: Type.Optional(text(4000)),
    state: Type.Optional(text(1000)),
    error: Type.Optional(text(1000)),
    error_description: Type.Optional(text(4000)),
    error_uri: Type.Optional(text(4000)),
    iss: Type.Optional(text(1000)),
    session_state: Type.Optional(text(1000)),
    scope: Type.Optional(text(4000)),
  }),
  answer: Type.String(),
});

export const firstStart = operation('POST /app/first-start', {
  body: Type.Object({ token: text(100), email, name, password: newPassword }, strict),
  answer: done,
});

/** `twoFactor`: a code is required next. */
export const signIn = operation('POST /app/sign-in', {
  body: Type.Object({ email, password }, strict),
  answer: Type.Object({ twoFactor: Type.Boolean() }),
});

/** Either the code of an authenticator or a backup code. */
export const confirmSignIn = operation('POST /app/sign-in/code', {
  body: Type.Object({ code: Type.Optional(text(10)), backupCode: Type.Optional(text(40)) }, strict),
  answer: done,
});

export const signOut = operation('POST /app/sign-out', { answer: done });
/** Ends all sessions, this one included. */
export const signOutEverywhere = operation('POST /app/sign-out-everywhere', { answer: done });

const Session = Type.Object({
  id: Type.String(),
  createdAt: instant,
  expiresAt: instant,
  address: nullable(Type.String()),
  userAgent: nullable(Type.String()),
});
export const listSessions = operation('GET /app/sessions', {
  answer: Type.Object({ data: Type.Array(Session) }),
});
export const endSession = operation('DELETE /app/sessions/:id', { answer: done });

/** Changes the password and ends all other sessions. */
export const changePassword = operation('POST /app/password', {
  body: Type.Object({ password, newPassword }, strict),
  answer: done,
});

export const startTwoFactor = operation('POST /app/two-factor/start', {
  body: Type.Object({ password }, strict),
  answer: Type.Object({ uri: Type.String(), backupCodes: Type.Array(Type.String()) }),
});
export const confirmTwoFactor = operation('POST /app/two-factor/confirm', {
  body: Type.Object({ code: text(10) }, strict),
  answer: done,
});
export const endTwoFactor = operation('POST /app/two-factor/end', {
  body: Type.Object({ password }, strict),
  answer: done,
});

const User = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: stringEnum(ROLES),
  twoFactor: Type.Boolean(),
  disabledAt: instantOrNull,
  createdAt: instant,
});
export const listUsers = operation('GET /app/users', { answer: Type.Object({ data: Type.Array(User) }) });
export const createUser = operation('POST /app/users', {
  body: Type.Object({ email, name, role: stringEnum(ROLES), password: newPassword }, strict),
  answer: Type.Object({ data: User }),
});
export const changeUser = operation('PATCH /app/users/:id', {
  body: Type.Object(
    {
      name: Type.Optional(name),
      role: Type.Optional(stringEnum(ROLES)),
      disabled: Type.Optional(Type.Boolean()),
      password: Type.Optional(newPassword),
      withoutTwoFactor: Type.Optional(Type.Literal(true)),
    },
    strict,
  ),
  answer: Type.Object({ data: User }),
});

const RoleCeiling = Type.Object({ role: stringEnum(ROLES), tlpCeiling: stringEnum(TLPS) });
/** Lists the roles, from the least to the most privileged. */
export const listRoles = operation('GET /app/roles', {
  answer: Type.Object({ data: Type.Array(RoleCeiling) }),
});
/** Sets the TLP ceiling of all users with this role, from their next request on. */
export const changeRole = operation('PATCH /app/roles/:role', {
  body: Type.Object({ tlpCeiling: stringEnum(TLPS) }, strict),
  answer: Type.Object({ data: RoleCeiling }),
});
