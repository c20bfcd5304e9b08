import { describe, expect, it } from 'vitest';
import { csvFormat } from '../../src/formats/csv.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const guarded = csvFormat({ csvGuard: true });
const plain = csvFormat({ csvGuard: false });

describe('csv', () => {
  it('matches the golden file', async () => {
    await expectGolden(await written(guarded, GOLDEN), 'indicators.csv');
  });

  it('starts with a header and ends with CRLF', async () => {
    const text = await written(plain, HOSTILE.slice(0, 5));
    expect(text.startsWith('type,value,confidence,id,severity,')).toBe(true);
    expect(text.endsWith('\r\n')).toBe(true);
  });

  it.each(['=1+1', '+1', '-1', '@x'])('escapes the formula %s', async (value) => {
    const rows = [exportIndicator(1, 'MUTEX', value)];
    expect(await written(guarded, rows)).toContain(`,'${value},`);
    expect(await written(plain, rows)).toContain(`,${value},`);
  });

  it('escapes every formula after a semicolon', async () => {
    const rows = [exportIndicator(1, 'MUTEX', '=a;+b;-c;@d;;e;f=')];
    expect(await written(guarded, rows)).toContain(`,'=a;'+b;'-c;'@d;;e;f=,`);
    expect(await written(plain, rows)).toContain(',=a;+b;-c;@d;;e;f=,');
  });

  it('escapes a formula after a semicolon within a list', async () => {
    const rows = [exportIndicator(1, 'MUTEX', 'x', { tags: ['0day', '=HYPERLINK("http://evil.example")'] })];
    expect(await written(guarded, rows)).toContain('"0day;\'=HYPERLINK(');
    expect(await written(plain, rows)).toContain('"0day;=HYPERLINK(');
  });
});
