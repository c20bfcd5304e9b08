import { parseTextArray, parseTimestamp } from '../../db/text-formats.ts';
import type { ExportIndicator, Indication } from '../../formats/format.ts';
import type { IndicatorType, Severity, Tlp } from '../../model/vocabulary.ts';

/** A row as the query gives it. */
export interface ExportRow {
  /** What has no separator in it, separated by it. */
  plain: string;
  value: string;
  /** null: the same as the value. */
  normalized: string | null;
  /** PostgreSQL's text of an array. */
  tags: string;
  source: string;
  externalIds: string[];
  /** Each an id, a blank and a marking. */
  indicates: string[];
}

/** An export reads millions: what many of them share is made once. */
export function toIndicator({ plain, value, normalized, tags, source, externalIds, indicates }: ExportRow) {
  const parts = plain.split('|') as Parts;
  const indicator: ExportIndicator = {
    id: parts[0],
    number: Number(parts[1]),
    version: Number(parts[2]),
    type: parts[3],
    value,
    normalized: normalized ?? value,
    confidence: Number(parts[4]),
    severity: parts[5],
    tlp: parts[6],
    tags: tagsOf(tags),
    source,
    firstSeen: instantOf(parts[8]),
    lastSeen: instantOf(parts[9]),
    expiresAt: parts[10] === '' ? null : instantOf(parts[10]),
    createdAt: instantOf(parts[11]),
    modifiedAt: instantOf(parts[12]),
    forDetection: parts[7] === 't',
    externalIds,
    indicates: indicates.length === 0 ? NONE : indicates.map(toIndication),
  };
  return indicator;
}

/** Of `plain`: id, number, version, type, confidence, severity, marking, whether for detection, five instants. */
type Parts = [
  ...[string, string, string, IndicatorType, string, Severity, Tlp, string],
  ...[string, string, string, string, string],
];

const NONE: readonly Indication[] = [];

function toIndication(link: string): Indication {
  const [id = '', tlp = 'RED'] = link.split(' ');
  return { id, tlp: tlp as Tlp };
}

/** Its text is made once, whoever writes it. */
class Instant extends Date {
  readonly #text: string;
  constructor(text: string) {
    super(text);
    this.#text = text;
  }
  override toISOString(): string {
    return this.#text;
  }
}

/** Of PostgreSQL's text in UTC: `2026-01-31 12:00:00.5+00`. */
function instantFrom(text: string): Date {
  const isWhole = text.length === '2026-01-31 12:00:00+00'.length && text.endsWith('+00');
  return isWhole ? new Instant(`${text.slice(0, 10)}T${text.slice(11, 19)}.000Z`) : parseTimestamp(text);
}

const tagsOf = remembered<string[]>(parseTextArray);
const instantOf = remembered(instantFrom);

const MOST_REMEMBERED = 10_000;

/** @param make of the same text always the same, which nobody changes */
function remembered<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const made = make(text);
    known.set(text, made);
    return made;
  };
}
