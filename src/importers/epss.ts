import { normalize } from '../model/normalize.ts';
import { parseDate } from './dates.ts';
import { type EpssRecord, type Importer, type RejectedRecord, UnreadableInput } from './importer.ts';
import { type Line, readLines } from './lines.ts';
import { rejectedRecord } from './record-fields.ts';

/** The maximum length of a line in bytes; a score has some 40. */
const MAX_LINE = 1024;
/** The first line: `#model_version:v2025.03.14,score_date:2026-01-31T12:55:00Z`. */
const COMMENT = /^#(?=.*\bmodel_version:).*\bscore_date:(\d{4}-\d{2}-\d{2})(?:T|$|,)/;
const COLUMNS = /^cve,epss,percentile$/i;
/** A decimal number as the file has it, at most with an exponent. */
const NUMBER = /^\d(?:\.\d{1,20})?(?:e-\d{1,2})?$/i;

/**
 * EPSS scores of FIRST (`epss_scores-YYYY-MM-DD.csv.gz`, https://www.first.org/epss/data_stats): a comment with the day of the
 * scores, the column names, and a line for each CVE id. They are scores of what other sources list, not indicators.
 */
export const epssImporter: Importer = {
  name: 'epss',
  label: 'FIRST EPSS scores',

  recognizes: (head) => COMMENT.test(head.split(/\r?\n/, 1)[0] ?? ''),

  async *read(input) {
    let date: string | null = null;
    let hasColumns = false;
    function* recordsOf(lines: Iterable<Line>) {
      for (const { number, text, problem } of lines) {
        const where = `line ${number}`;
        if (number === 1) date = dateOf(text);
        else if (number === 2) hasColumns = hasColumnNames(text);
        else if (problem !== null) yield rejectedRecord('score', problem, where);
        else if (text.trim() !== '' && date !== null) yield scoreOf(text, date, where);
      }
    }
    for await (const lines of readLines(input, MAX_LINE)) yield recordsOf(lines);
    if (date === null) throw new UnreadableInput('the file is empty');
    if (!hasColumns) throw new UnreadableInput('the file has no column names (cve,epss,percentile)');
  },
};

/** @throws {UnreadableInput} */
function dateOf(comment: string): string {
  const [, date] = COMMENT.exec(comment) ?? [];
  if (date === undefined || parseDate(date) === null)
    throw new UnreadableInput(
      'not EPSS scores: the first line is not #model_version:…,score_date:YYYY-MM-DD…',
    );
  return date;
}

/** @throws {UnreadableInput} */
function hasColumnNames(text: string): true {
  if (!COLUMNS.test(text.trim()))
    throw new UnreadableInput('not EPSS scores: the second line is not cve,epss,percentile');
  return true;
}

function scoreOf(text: string, date: string, where: string): EpssRecord | RejectedRecord {
  const [cve = '', score = '', percentile = '', ...more] = text.split(',').map((cell) => cell.trim());
  if (more.length > 0 || percentile === '') return rejectedRecord('score', 'not three columns', where);
  const id = normalize('CVE', cve);
  if ('rejected' in id) return rejectedRecord('score', id.rejected, where);
  const numbers = [score, percentile].map((cell) => (NUMBER.test(cell) ? Number(cell) : Number.NaN));
  if (!numbers.every((value) => value >= 0 && value <= 1))
    return rejectedRecord('score', 'not a number from 0 to 1', where);
  const [probability = 0, share = 0] = numbers;
  return { kind: 'score', cve: id.normalized, score: probability, percentile: share, date };
}
