import { expect } from 'vitest';

/** The text is, to the byte, what the file in test/golden/ holds; `vitest -u` writes it again. */
export async function expectGolden(text: string, file: string): Promise<void> {
  await expect(text).toMatchFileSnapshot(new URL(`../golden/${file}`, import.meta.url).pathname);
}
