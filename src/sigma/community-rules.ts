import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { parseDocument, visit } from 'yaml';
import type { SigmaFacts } from '../formats/sigma.ts';
import { techniqueMatcher } from './technique-rules.ts';

/**
 * The maximum size of a file. A rule has some 2 kB; the longest one in public collections, a list of hashes,
 * has more than a quarter of a megabyte.
 */
const MAX_FILE_BYTES = 1024 * 1024;

/** The maximum size of all rules in memory; the largest public collection has 10 MB of them. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

/** The maximum number of entries visited: a directory with more is not a checkout of rules but an entire disk. */
const MAX_ENTRIES = 100_000;

/** SigmaHQ's folders of rules that are withdrawn, that no backend converts, or that need values of the site. */
const NOT_FOR_USE = new Set(['deprecated', 'rules-placeholder', 'unsupported']);

/** Third-party Sigma rules, in the unchanged text of their authors. */
export interface CommunityRules {
  /**
   * Returns the documents tagged with one of the techniques (`T1059.001`; a parent's id includes its
   * sub-techniques), in the order of their files, without duplicates. Each ends in a newline, has no `---`
   * and begins with a comment that names its file and its authors. The documents of a file stay together,
   * because a correlation needs the rules that it counts: all of them, if one is wanted.
   */
  rulesFor(techniqueIds: readonly string[], isWanted: (rule: SigmaFacts) => boolean): ChosenRules;
  /** Returns how many rules there are for each technique that they are tagged with; those that need values of the site do not count. */
  countByTechnique(isWanted: (rule: SigmaFacts) => boolean): Map<string, number>;
  /** Files and folders left out: not readable, too large, not YAML, or a collection of Sigma 1. */
  readonly skipped: number;
}

/** A rule or a correlation in the text of its authors. */
export interface CommunityRule {
  text: string;
  /** The value of the document. */
  content: Readonly<Record<string, unknown>>;
  /** The path below the directory of the rules. */
  file: string;
  author: string | null;
  license: string | null;
  /** Whether it is a correlation, or a rule in the file of one. */
  isCorrelated: boolean;
}

interface ChosenRules {
  documents: CommunityRule[];
  /** Further rules that need values of the site (`|expand`): without them they do not convert. */
  placeholders: CommunityRule[];
}

interface RuleFile {
  techniques: Set<string>;
  documents: CommunityRule[];
  rules: SigmaFacts[];
  /** The techniques of each rule in turn. */
  techniquesOfRules: string[][];
  hasPlaceholders: boolean;
}

/**
 * Reads every `.yml` and `.yaml` file below a directory once; later changes take effect at the next start.
 * Symbolic links, names with a leading dot, and SigmaHQ's folders of rules that are not for use are skipped. Rejects when the directory itself cannot be read
 * or has more than 100,000 entries.
 */
export async function communityRules(directory: string): Promise<CommunityRules> {
  const files: RuleFile[] = [];
  let skipped = 0;
  let bytes = 0;
  for await (const path of rulePaths(directory, () => skipped++)) {
    try {
      const text = await textOf(path, Math.min(MAX_FILE_BYTES, MAX_TOTAL_BYTES - bytes));
      const file = ruleFile(relative(directory, path).split(sep).join('/'), communityDocuments(text));
      if (file.techniques.size === 0) continue;
      files.push(file);
      bytes += Buffer.byteLength(text);
    } catch {
      skipped++;
    }
  }
  return {
    skipped,
    countByTechnique(isWanted) {
      const counts = new Map<string, number>();
      for (const { rules, techniquesOfRules, hasPlaceholders } of files)
        for (const [index, rule] of hasPlaceholders ? [] : rules.entries())
          if (isWanted(rule))
            for (const id of techniquesOfRules[index] ?? []) counts.set(id, (counts.get(id) ?? 0) + 1);
      return counts;
    },
    rulesFor(techniqueIds, isWanted) {
      const isMeant = techniqueMatcher(techniqueIds);
      const chosen = files.filter(
        ({ techniques, rules }) => [...techniques].some(isMeant) && rules.some(isWanted),
      );
      const documents = (of: RuleFile[]) => of.flatMap((file) => file.documents);
      return {
        documents: documents(chosen.filter(({ hasPlaceholders }) => !hasPlaceholders)),
        placeholders: documents(chosen.filter(({ hasPlaceholders }) => hasPlaceholders)),
      };
    },
  };
}

/**
 * Yields the paths in the order of the names' code units, so that two checkouts of one commit give the same
 * bundle.
 */
async function* rulePaths(directory: string, onUnreadable: () => void): AsyncGenerator<string> {
  const folders = [directory];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const listed = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (folder === directory) throw error;
      onUnreadable();
      return [];
    });
    entries += listed.length;
    if (entries > MAX_ENTRIES) throw new Error(`${directory} has more than ${MAX_ENTRIES} entries`);
    const visible = listed.filter((entry) => !entry.name.startsWith('.'));
    visible.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of visible) {
      if (entry.isFile() && /\.ya?ml$/i.test(entry.name)) yield join(folder, entry.name);
    }
    for (const entry of visible.reverse())
      if (entry.isDirectory() && !NOT_FOR_USE.has(entry.name)) folders.push(join(folder, entry.name));
  }
}

/**
 * Reads a file. Throws if it is not a regular one (it may have been replaced since it was listed), too large
 * or not UTF-8.
 */
async function textOf(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > maxBytes) throw new Error('not a file of a rule');
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } finally {
    await file.close();
  }
}

function ruleFile(name: string, documents: readonly CommunityDocument[]): RuleFile {
  const isCorrelated = documents.some(({ rule }) => rule === null);
  return {
    techniques: new Set(documents.flatMap(({ techniques }) => techniques)),
    documents: documents.map((document) => ({
      text: `${attribution(name, document)}\n${document.text}`,
      content: document.content,
      file: name,
      author: document.author === '' ? null : document.author,
      license: document.license,
      isCorrelated,
    })),
    rules: documents.flatMap(({ rule }) => rule ?? []),
    techniquesOfRules: documents.flatMap(({ rule, techniques }) => (rule ? [[...new Set(techniques)]] : [])),
    hasPlaceholders: documents.some(({ hasPlaceholders }) => hasPlaceholders),
  };
}

/** Returns the attribution that licences of rules require; most rules state theirs only in a separate file. */
function attribution(name: string, { author, license }: CommunityDocument): string {
  const licence = license ?? 'that of its collection';
  return oneLine(`# ${name}, by its authors: ${author || 'not named'}; licence: ${licence}`);
}

/**
 * Returns a text for a comment, without characters that a reader of YAML 1.1 or 1.2 takes for a line break or
 * refuses.
 */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').slice(0, 1000);
}

/** One document of a community rule's file, as its authors wrote it. */
interface CommunityDocument {
  text: string;
  content: Record<string, unknown>;
  /** Ids of the techniques that it is tagged with, in ATT&CK's spelling: `T1059.001`. */
  techniques: string[];
  author: string;
  license: string | null;
  /** null: a correlation, which has no log source. */
  rule: SigmaFacts | null;
  hasPlaceholders: boolean;
}

/** Characters outside c-printable (YAML 1.2 §5.1), and the byte order mark: readers refuse a stream with one. */
const UNPRINTABLE = /[^\t\n\r\x20-\x7E\x85\xA0-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Markers that end a document at the start of any line, in block scalars too (YAML 1.2 §9.1.2). */
const MARKER = /^(?:---|\.\.\.)(?=\s|$)/m;

const TECHNIQUE_TAG = /^attack\.(t\d{4}(?:\.\d{3})?)$/i;

/**
 * Returns the rules and correlations of a file in their order; none if the file holds no rules, or only
 * deprecated or unsupported ones. Throws on text that a YAML reader would refuse, and on collections of Sigma
 * 1 (`action: global`), whose first document would change every rule that follows it in a bundle.
 */
function communityDocuments(text: string): CommunityDocument[] {
  if (UNPRINTABLE.test(text)) throw new Error('characters that YAML does not allow');
  const documents: CommunityDocument[] = [];
  let comments = '';
  for (const piece of text.split(MARKER)) {
    const content = comments + piece.replace(/^[ \t]*\r?\n/, '');
    if (isComment(content)) {
      comments = content;
      continue;
    }
    comments = '';
    const document = communityDocument(content);
    if (document) documents.push(document);
  }
  return documents;
}

function communityDocument(text: string): CommunityDocument | null {
  const parsed = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
  if (parsed.errors[0]) throw parsed.errors[0];
  visit(parsed, {
    Scalar(_, node) {
      // Zeros in front are part of a value: YAML 1.2 reads 00000429 as 429, and YAML 1.1 as a text or an octal number.
      if (typeof node.value === 'number' && /^[-+]?0\d/.test(node.source ?? '')) node.value = node.source;
    },
  });
  const rule: unknown = parsed.toJS({ maxAliasCount: 100 });
  if (!isMap(rule)) return null;
  if ('action' in rule) throw new Error('a collection of Sigma 1');
  if (!isMap(rule.correlation) && !(isMap(rule.logsource) && isMap(rule.detection))) return null;
  if (rule.status === 'deprecated' || rule.status === 'unsupported') return null;
  return {
    text: text.endsWith('\n') ? text : `${text}\n`,
    content: rule,
    techniques: techniquesOf(rule.tags),
    author: typeof rule.author === 'string' ? rule.author : '',
    license: textOrNull(rule.license),
    rule: isMap(rule.logsource)
      ? { level: textOrNull(rule.level), status: textOrNull(rule.status), logsource: rule.logsource }
      : null,
    hasPlaceholders: hasPlaceholders(rule.detection),
  };
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);

/** Returns whether a field of the detection has the modifier `expand` (Sigma specification 2.0, "Modifiers"). */
function hasPlaceholders(detection: unknown): boolean {
  if (Array.isArray(detection)) return detection.some(hasPlaceholders);
  if (!isMap(detection)) return false;
  return Object.entries(detection).some(
    ([field, value]) => field.split('|').includes('expand') || hasPlaceholders(value),
  );
}

function isComment(text: string): boolean {
  return text.split(/[\r\n]/).every((line) => /^\s*(?:#|$)/.test(line));
}

function techniquesOf(tags: unknown): string[] {
  if (!Array.isArray(tags)) return [];
  return tags.flatMap((tag) => TECHNIQUE_TAG.exec(String(tag))?.[1]?.toUpperCase() ?? []);
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
