import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

/** A fenced code block of a document. */
export interface CodeBlock {
  /** The path of the document in the repository. */
  document: string;
  /** The line of its opening fence, from 1. */
  line: number;
  language: string;
  /** The file that it is saved as, or the terminal that it is typed into. */
  title: string | null;
  /** Why it is not run. */
  notRun: string | null;
  /** The program without which it is not run. */
  needs: string | null;
  text: string;
  /** Whether it shows what the block before it prints: it stands directly below, as text or JSON. */
  isOutput: boolean;
}

const OUTPUT = ['text', 'json'];
const FENCED = /^( *)```(\w*)([^\n`]*)\n([\s\S]*?)^ *```$/gm;

/** The code blocks of a document, in their order. A block in a list is indented. */
export function codeBlocks(document: string): CodeBlock[] {
  const text = readFileSync(new URL(document, ROOT), 'utf8');
  return [...text.matchAll(FENCED)].map(
    ({ index, 1: indent = '', 2: language = '', 3: info = '', 4: code = '' }) => {
      const attribute = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(info)?.[1] ?? null;
      return {
        document,
        line: text.slice(0, index).split('\n').length,
        language,
        title: attribute('title'),
        notRun: attribute('not-run'),
        needs: attribute('needs'),
        isOutput:
          attribute('title') === null && OUTPUT.includes(language) && /```\n+ *$/.test(text.slice(0, index)),
        text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      };
    },
  );
}

/** The documents that readers have: those of the root and those of `docs/`, `clients/`, `examples/`, `bench/`, without the decisions. */
export function documents(): string[] {
  const inDocs = readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.startsWith('adr/'))
    .map((path) => `docs/${path}`);
  return [
    'README.md',
    'CONTRIBUTING.md',
    'clients/typescript/README.md',
    'clients/python/README.md',
    'examples/README.md',
    'bench/README.md',
    ...inDocs.sort(),
  ];
}

/** The languages of blocks that are programs. Others are data, output and configuration. */
export const RUNNABLE = ['sh', 'python', 'ts'];

/** Whether a program printed what a document says: blanks and line ends aside, `…` stands for any text. */
export function isAsPrinted(printed: string, expected: string): boolean {
  const compact = (text: string) => text.replaceAll(/\s/g, '');
  const pattern = compact(expected)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*?');
  return new RegExp(`^${pattern}$`).test(compact(printed));
}
