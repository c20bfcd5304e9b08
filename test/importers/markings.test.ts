import { describe, expect, it } from 'vitest';
import { mostRestrictive, tlpOfStixId, tlpOfTag, tlpOfWord } from '../../src/importers/markings.ts';

describe('TLP markings', () => {
  it.each([
    ['613f2e26-407d-48c7-9eca-b8e91df99dc9', 'CLEAR'],
    ['34098fce-860f-48ae-8e50-ebd3cc5e41da', 'GREEN'],
    ['f88d31f6-486f-44da-b317-01333bde0b82', 'AMBER'],
    ['5e57c739-391a-4eb3-b6be-7d15ca92d5ed', 'RED'],
    ['94868c89-83c2-464b-929b-a1a8aa3c8487', 'CLEAR'],
    ['bab4a63c-aed9-4cf5-a766-dfca5abac2bb', 'GREEN'],
    ['55d920b0-5e8b-4f79-9ee9-91f868d9b421', 'AMBER'],
    ['939a9414-2ddd-4d32-a0cd-375ea402b003', 'AMBER_STRICT'],
    ['e828b379-4e03-4974-9ac4-e53a884c97c1', 'RED'],
    ['826578e1-40ad-459f-bc73-ede076f81f37', 'AMBER_STRICT'],
  ])('maps the STIX marking %s to %s', (uuid, tlp) => {
    expect(tlpOfStixId(`marking-definition--${uuid}`)).toBe(tlp);
  });

  it.each([
    ['White', 'CLEAR'],
    ['Clear', 'CLEAR'],
    ['green', 'GREEN'],
    ['TLP:AMBER', 'AMBER'],
    ['AMBER+STRICT', 'AMBER_STRICT'],
    ['Red', 'RED'],
    ['PURPLE', 'RED'],
    ['', 'RED'],
    ['__proto__', 'RED'],
  ])('maps the word %j to %s', (word, tlp) => {
    expect(tlpOfWord(word)).toBe(tlp);
  });

  it.each([
    ['tlp:white', 'CLEAR'],
    ['tlp:clear', 'CLEAR'],
    ['TLP:GREEN', 'GREEN'],
    ['tlp:amber+strict', 'AMBER_STRICT'],
    ['tlp:ex:chr', 'RED'],
    ['tlp:unclear', 'RED'],
    ['phishing', null],
    ['pap:red', null],
  ])('maps the tag %j to %s', (tag, tlp) => {
    expect(tlpOfTag(tag)).toBe(tlp);
  });

  it('uses the most restrictive of several', () => {
    expect(mostRestrictive(['GREEN', null, 'AMBER_STRICT', 'AMBER'])).toBe('AMBER_STRICT');
  });

  it('returns null without any marking', () => {
    expect(mostRestrictive([null])).toBeNull();
  });
});
