import { readdirSync, readFileSync } from 'node:fs';
import { type CodeBlock, codeBlocks } from './code-blocks.ts';
import { table } from './docs-tables.ts';

// The pages of docs/integrations, as the tests read them.

const FOLDER = new URL('../../docs/integrations/', import.meta.url);

/** A code block, and the file that it is: its first line is a comment with the absolute path. */
interface Block extends CodeBlock {
  path: string | null;
}

export interface Page {
  /** The name of its file without `.md`. */
  name: string;
  title: string;
  /** The rows of the table under the title. */
  facts: ReadonlyMap<string, string>;
  /** The headings of the second level, in order. */
  sections: string[];
  blocks: Block[];
  text: string;
}

const pageNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => file.replace('.md', ''))
    .sort();

export function readPage(name: string): Page {
  const text = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8');
  const [intro = ''] = text.split(/^## /m);
  return {
    name,
    title: /^# (.+)$/m.exec(text)?.[1] ?? '',
    facts: new Map(
      [...intro.matchAll(/^\| (\w[^|]*?) \| (.*) \|$/gm)].map(([, fact = '', value = '']) => [fact, value]),
    ),
    sections: [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^## (.+)$/gm)].map(([, heading]) =>
      String(heading),
    ),
    blocks: blocksOf(name),
    text,
  };
}

const blocksOf = (name: string): Block[] =>
  codeBlocks(`docs/integrations/${name}.md`).map((block) => ({
    ...block,
    path: /^(?:#|\/\/|--) (\/\S+)$/.exec(block.text.split('\n', 1)[0] ?? '')?.[1] ?? null,
  }));

/** The pages of products. The others describe a protocol. */
export const productPages = (): Page[] =>
  pageNames()
    .map(readPage)
    .filter(({ facts }) => facts.has('Checked'));

/** The lines of the shell blocks of a page, with continued lines and quoted line breaks joined. */
export function commandsOf({ blocks }: Pick<Page, 'blocks'>): string[] {
  const commands: string[] = [];
  for (const { language, path, text } of blocks) {
    if (language !== 'sh' || path !== null) continue;
    let pending = '';
    for (const line of text.split('\n')) {
      pending = pending === '' ? line : `${pending}\n${line}`;
      const isOpen = /(?:\\|\||&&)$/.test(pending) || (pending.match(/'/g)?.length ?? 0) % 2 === 1;
      if (isOpen) continue;
      if (pending.trim() !== '' && !pending.startsWith('#')) commands.push(pending);
      pending = '';
    }
  }
  return commands;
}

/** The words of a command line, without quotation marks. */
export const wordsOf = (command: string): string[] =>
  [...command.replace(/\\\n/g, ' ').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );

/** The products that have a page, with the table under its title. */
export function integrationsTable(): string {
  return table(
    ['product', 'versions', 'reads', 'key', 'checked'],
    productPages()
      .sort((a, b) => a.title.localeCompare(b.title, 'en', { sensitivity: 'base' }))
      .map(({ name, title, facts }) => [
        `[${title}](${name}.md)`,
        ...['Versions', 'Reads', 'Key', 'Checked'].map((fact) => facts.get(fact) ?? ''),
      ]),
  );
}

/** The pages that describe a protocol instead of a product. */
export function protocolsTable(): string {
  return table(
    ['protocol', 'page'],
    pageNames()
      .map(readPage)
      .filter(({ facts }) => !facts.has('Checked'))
      .map(({ name, title }) => [title, `[${name}.md](${name}.md)`]),
  );
}
