import { expect, it } from 'vitest';
import { INDICATOR_NAMESPACE, indicatorId, uuidv5 } from '../../src/model/identity.ts';

it('is the UUIDv5 of RFC 9562, appendix A.4', () => {
  expect(uuidv5('www.example.com', '6ba7b810-9dad-11d1-80b4-00c04fd430c8')).toBe(
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  );
});

it('gives an indicator the id it has always had', () => {
  expect(indicatorId('DOMAIN', 'evil.example')).toBe('f791ab78-cc14-5e91-afc7-12967429bfde');
});

it('can be computed by others from the namespace, the type and the normalized value', () => {
  expect(indicatorId('IPV4', '1.2.3.4')).toBe(uuidv5('IPV4:1.2.3.4', INDICATOR_NAMESPACE));
});

it('tells the same text of two types apart', () => {
  expect(indicatorId('MUTEX', 'a.example')).not.toBe(indicatorId('DOMAIN', 'a.example'));
});
