import { expect, it } from 'vitest';
import { dependencyChecks } from '../../src/health/deep-check.ts';

const NO_ANSWER = 'The database does not respond.';
const is = (value: boolean) => async () => value;
const fails = () => Promise.reject(new Error('Connection terminated unexpectedly'));

it.each([
  [
    'a standby',
    is(false),
    is(true),
    'The database is a standby or read-only: it serves reads and rejects writes.',
  ],
  [
    'on a full disk',
    is(true),
    is(false),
    'The disk is full or nearly full: the database serves reads and rejects writes.',
  ],
  ['lost before it says whether it is a standby', is(false), fails, NO_ANSWER],
  ['lost before it says whether its disk is full', fails, is(false), NO_ANSWER],
  ['well', is(false), is(false), undefined],
])('a database that is %s is named as such', async (_, isDiskFull, isReadOnly, message) => {
  const { database } = await dependencyChecks(is(true), is(true), isDiskFull, isReadOnly).deep();
  expect(database).toEqual({
    status: message === undefined ? 'ok' : 'degraded',
    latencyMs: expect.any(Number),
    ...(message !== undefined && { message }),
  });
});
