import { describe, expect, it } from 'vitest';
import { extractValues } from '../../src/lookup/extract.ts';
import { partEnd } from '../../src/lookup/text-part.ts';

/** Longer than any observable. */
const MOST = 9_000;

function parts(text: string): string[] {
  const end = partEnd(text, MOST);
  return end === text.length ? [text] : [text.slice(0, end), ...parts(text.slice(end))];
}

const valuesOf = async (texts: string[]) => [
  ...new Set((await Promise.all(texts.map(extractValues))).flat()),
];

describe('a part of a text', () => {
  it.each([
    ['lines', 'word of a line\n', '185.132.17.160\n'],
    ['words', 'word ', '185.132.17.160 '],
    ['words with blanks around the dots of names', 'word  ', 'evil [.] example [.] com '],
    ['columns', 'word\t1\t', '185.132.17.160\t'],
    ['JSON without blanks', '{"a":1,"b":"c"},', '{"url":"http://185.132.17.160/a,b;c=1"},'],
    ['an array', '"c",', '"evil[.]example[.]com",'],
    ['commas', 'word,', 'evil(.)example(.)com,'],
    ['semicolons', 'a=b;', '185.132.17.160;'],
  ])('cuts no observable at any offset: %s', async (_, filler, value) => {
    const before = filler.repeat((MOST - 60) / filler.length);
    for (let more = 0; more < 80; more++) {
      const text = `${before}${'y'.repeat(more)}${filler}${value}${filler.repeat(20)}`;
      const all = parts(text);
      expect([all.join(''), all.length]).toEqual([text, 2]);
      expect(all[0]?.length).toBeLessThanOrEqual(MOST);
      expect(await valuesOf(all)).toEqual(await valuesOf([text]));
    }
  });

  it('ends somewhere in a text without separators', () => {
    expect(parts('x'.repeat(2 * MOST + 1)).map(({ length }) => length)).toEqual([MOST, MOST, 1]);
  });
});
