import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/http/errors.ts';
import { openSlots } from '../../src/http/slots.ts';

const busy = () => new ApiError('service_unavailable');
const applicant = (principalId: string, isGone = () => false) => ({ principalId, isGone });

/** Work that ends when it is told to. */
function jobs() {
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => async () => {
    running.push(name);
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  const endFirst = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { running, work, endFirst };
}

describe('slots', () => {
  it('leave some to others where one key wants all', async () => {
    const slots = openSlots({ count: 3, each: 2, busy });
    const { running, work, endFirst } = jobs();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void slots.run(applicant(name.charAt(0)), work(name));
    await new Promise(setImmediate);
    expect(running).toEqual(['a1', 'a2', 'b1']);
    await endFirst();
    expect(running.at(-1)).toBe('a3');
    await endFirst();
    expect(running.at(-1)).toBe('b2');
  });

  it('are waited for no longer than the limit', async () => {
    const slots = openSlots({ count: 1, each: 1, maxWaitMs: 1, busy });
    const release = await slots.take(applicant('a'));
    await expect(slots.take(applicant('a'))).rejects.toMatchObject({ statusCode: 503 });
    release();
    release();
    (await slots.take(applicant('a')))();
  });

  it('are not given to clients that have disconnected, which do not count among those that wait', async () => {
    const slots = openSlots({ count: 1, each: 1, maxWaiting: 5, busy });
    const { running, work, endFirst } = jobs();
    let isGone = false;
    void slots.run(applicant('a'), work('first'));
    const aborted = Array.from({ length: 5 }, () =>
      slots.run(
        applicant('a', () => isGone),
        work('aborted'),
      ),
    );
    const refused = Promise.allSettled(aborted);
    await expect(slots.run(applicant('a'), work('too many'))).rejects.toMatchObject({ statusCode: 503 });
    isGone = true;
    const alive = slots.run(applicant('a'), work('alive'));
    await endFirst();
    await endFirst();
    await alive;
    expect(running).toEqual(['first', 'alive']);
    expect(new Set((await refused).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });
});
