import { describe, expect, it } from 'vitest';
import { nameKey } from '../../src/model/text.ts';

describe('name keys', () => {
  it.each([
    ['APT28', 'apt28'],
    ['APT 28', 'apt28'],
    ['APT-28', 'apt28'],
    ['apt_28', 'apt28'],
    ['APT\u201128', 'apt28'],
    ['Ocean  Lotus', 'oceanlotus'],
    ['\uff21\uff30\uff34\uff12\uff18', 'apt28'],
    ['CL-STA-0048', 'clsta0048'],
    ['ПЕСОЧНЫЙ ЧЕРВЬ', 'песочныйчервь'],
    // Two numbers are not one.
    ['Group 7-2', 'group7-2'],
    ['Group 72', 'group72'],
    ['Storm 1 2', 'storm1-2'],
    // Accents, dots and words tell apart.
    ['Señor', 'señor'],
    ['BackdoorDiplomacy.2', 'backdoordiplomacy.2'],
    ['Turla Group', 'turlagroup'],
  ])('normalize %s to %s', (name, key) => expect(nameKey(name)).toBe(key));

  it.each([[''], [' - '], ['x'.repeat(201)]])('reject %j', (name) => expect(nameKey(name)).toBeNull());

  it('are idempotent', () => {
    for (const key of ['apt28', 'group7-2', 'storm1-2']) expect(nameKey(key)).toBe(key);
  });
});
