import { afterEach, expect, it, vi } from 'vitest';
import { print, printJson } from '../../src/cli/output.ts';

const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
afterEach(() => write.mockClear());

it('prints lines without control characters, and JSON with them', () => {
  const name = 'a\u001b[31mkey\n\u202eyek\u2028';
  print(`list: ${name}`);
  printJson({ name });
  const [line, json] = write.mock.calls.map(([text]) => String(text));
  expect(line).toBe('list: a [31mkey  yek \n');
  expect(JSON.parse(json ?? '')).toEqual({ name });
});
