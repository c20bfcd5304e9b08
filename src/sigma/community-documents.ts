import { parseDocument } from 'yaml';

/** One document of a community rule's file, as its authors wrote it. */
export interface CommunityDocument {
  text: string;
  /** Ids of the techniques that it is tagged with, in ATT&CK's spelling: `T1059.001`. */
  techniques: string[];
  author: string;
  license: string | null;
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
export function communityDocuments(text: string): CommunityDocument[] {
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
  const rule: unknown = parsed.toJS({ maxAliasCount: 100 });
  if (!isMap(rule)) return null;
  if ('action' in rule) throw new Error('a collection of Sigma 1');
  if (!isMap(rule.correlation) && !(isMap(rule.logsource) && isMap(rule.detection))) return null;
  if (rule.status === 'deprecated' || rule.status === 'unsupported') return null;
  return {
    text: text.endsWith('\n') ? text : `${text}\n`,
    techniques: techniquesOf(rule.tags),
    author: typeof rule.author === 'string' ? rule.author : '',
    license: typeof rule.license === 'string' ? rule.license : null,
  };
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
