import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationIds } from '../api-clients/operations.ts';
import { hasPython } from '../api-clients/python.ts';
import { isInstalled } from '../consumers/recipe.ts';
import { type CodeBlock, codeBlocks, documents, isAsPrinted, RUNNABLE } from '../support/code-blocks.ts';
import { DOCUMENTS_RUN_HERE, reasonOf } from './dispositions.ts';
import { type Session, startSession } from './session.ts';

// The code blocks of the documentation that no other test runs: those of the first pages always, the others with npm run test:all.

const FIRST = ['docs/tutorials/first-ten-minutes.md', 'README.md'];
const [first, others] = [true, false].map((isFirst) =>
  Object.entries(DOCUMENTS_RUN_HERE).filter(([document]) => FIRST.includes(document) === isFirst),
) as [[string, string | null][], [string, string | null][]];

/** The examples of events in the OpenAPI document, and the feeds that have them. */
const MISP_EVENTS = {
  'c3bc72fb-38cc-5926-9cb5-08bb29533f02': '/api/v1/feeds/misp',
  '11f3f115-7f33-560a-a0f6-7c7cea59d721': '/api/v1/feeds/misp/by-report',
};

const isProgram = ({ language }: CodeBlock) => RUNNABLE.includes(language);

const placeOf = ({ document, line }: CodeBlock) => `${document}:${line}`;

describe('the code blocks of the documents', () => {
  const programs = documents().flatMap(codeBlocks).filter(isProgram);

  it('are all run, or have a reason', () => {
    const reasons = programs.map(reasonOf);
    const [run, notRun] = [reasons.filter(({ isRun }) => isRun), reasons.filter(({ isRun }) => !isRun)];
    console.log(
      `${programs.length} code blocks: ${run.length} are run, ${notRun.length} are not:\n${summaryOf(notRun)}`,
    );
    const missing = programs.filter((_, index) => reasons[index]?.text === '');
    expect(missing.map(placeOf)).toEqual([]);
  });

  it('in JSON are JSON', () => {
    const broken = documents()
      .flatMap(codeBlocks)
      .filter(({ language, text }) => language === 'json' && !isJson(text.replaceAll(/,…|…,?/g, '')));
    expect(broken.map(placeOf)).toEqual([]);
  });
});

/** How often each reason is given. */
function summaryOf(reasons: { text: string }[]): string {
  const counts = new Map<string, number>();
  for (const { text } of reasons) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => `  ${count} ${text}`).join('\n');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('the comparison with a printed text', () => {
  it.each([
    ['a  b\n', 'a b', true],
    ['{"a": 1}', '{"a":1}', true],
    ['one two three', 'one … three', true],
    ['one two', 'one', false],
    ['a.b', 'aXb', false],
    ['aXb', 'a.b', false],
  ])('of %j with %j is %s', (printed, expected, isSame) => {
    expect(isAsPrinted(printed, expected)).toBe(isSame);
  });
});

describe.skipIf(!isInstalled('curl'))('the code blocks, run in their order', () => {
  let session: Session;
  beforeAll(async () => {
    session = await startSession();
  });
  afterAll(() => session.close());

  async function runBlocks(document: string, preparation: string | null) {
    if (preparation !== null) await session.prepare(preparation);
    const blocks = codeBlocks(document);
    for (const [index, block] of blocks.entries()) {
      const isFile = block.title !== null && !isProgram(block);
      if (block.notRun !== null || !(isProgram(block) || isFile)) continue;
      const next = blocks[index + 1];
      await session.run(block, next?.isOutput ? next : undefined);
    }
  }

  it.each(first)('of %s', runBlocks);

  it.each(others)('of %s', { tags: ['nightly'] }, runBlocks);

  describe('the reference of the API', { tags: ['nightly'] }, () => {
    const pages = documents().filter((document) => document.startsWith('docs/reference/api/'));
    const blocks = (language: string) =>
      pages.flatMap(codeBlocks).filter((block) => block.language === language);
    beforeAll(async () => {
      await session.prepare(
        "tipline feeds create edge-addresses --format txt --query 'types=IPV4' --tlp-ceiling RED",
      );
      // The uuids of events are different in each installation.
      for (const [uuid, path] of Object.entries(MISP_EVENTS)) {
        const manifest = await session.shell(
          `curl -fsSH "Authorization: Bearer $TIPLINE_KEY" ${session.address}${path}/manifest.json`,
        );
        session.replaced.set(uuid, String(Object.keys(JSON.parse(manifest))[0]));
      }
    });

    it('in curl', async () => {
      const examples = blocks('sh');
      expect(examples).toHaveLength(operationIds().length);
      for (const block of examples) await session.run(block);
    });

    it.skipIf(!hasPython)('in Python', async () => {
      await session.runPython(
        blocks('python')
          .map(({ text }) => text)
          .join(''),
      );
    });

    it('in TypeScript, compiled strictly', async () => {
      await session.runTypeScript(
        // Each page begins with the same lines.
        [...new Set(blocks('ts').map(({ text }) => text))].join(''),
      );
    });
  });
});
