import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  groupSid,
  INDICATOR_NAMESPACE,
  indicatorId,
  NUMBERS_WITH_SIDS,
  sidOf,
  uuidv5,
} from '../../src/model/identity.ts';

it('uuidv5 matches RFC 9562, appendix A.4', () => {
  expect(uuidv5('www.example.com', '6ba7b810-9dad-11d1-80b4-00c04fd430c8')).toBe(
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  );
});

it('uuidv5 depends only on the name, also for names of any length', () => {
  const namespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  const bytes = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  for (const name of ['x'.repeat(5000), 'é'.repeat(1360), '€'.repeat(1360), '€'.repeat(1361), '', '🙂']) {
    uuidv5('another name', INDICATOR_NAMESPACE);
    const digest = createHash('sha1').update(bytes).update(name).digest('hex');
    expect(uuidv5(name, namespace).replaceAll('-', '').slice(20)).toBe(digest.slice(20, 32));
  }
});

it('an indicator id never changes', () => {
  expect(indicatorId('DOMAIN', 'evil.example')).toBe('f791ab78-cc14-5e91-afc7-12967429bfde');
});

it('an indicator id can be computed from the namespace, the type and the normalized value', () => {
  expect(indicatorId('IPV4', '1.2.3.4')).toBe(uuidv5('IPV4:1.2.3.4', INDICATOR_NAMESPACE));
});

it('the same value with two types has two ids', () => {
  expect(indicatorId('MUTEX', 'a.example')).not.toBe(indicatorId('DOMAIN', 'a.example'));
});

it('the sids of indicators end where those of groups begin', () => {
  expect(sidOf(NUMBERS_WITH_SIDS - 1, 7) + 1).toBe(groupSid(0, 'IPV4'));
});
