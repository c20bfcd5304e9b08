import type { IndicatorType } from '../model/vocabulary.ts';
import type { ExportIndicator } from './format.ts';
import { SIGMA_RULE_KINDS } from './sigma/kinds.ts';
import {
  addToRule,
  hasRoom,
  openRule,
  ruleDocument,
  type SigmaChange,
  type SigmaDocument,
  type SigmaSubject,
  shownName,
  subjectKind,
} from './sigma/rule.ts';

export type { SigmaDocument, SigmaFacts, SigmaSubject } from './sigma/rule.ts';

/** The types that a log source of Sigma's taxonomy shows. */
export const SIGMA_TYPES: readonly IndicatorType[] = [
  'IPV4',
  'IPV6',
  'DOMAIN',
  'URL',
  'MD5',
  'SHA1',
  'SHA256',
  'REGISTRY_KEY',
  'FILENAME',
  'USER_AGENT',
];

/**
 * Yields the rules that detect the indicators of an actor or a campaign: one log source per rule, as many rules as its
 * values need. One open rule of each kind is held at a time.
 * @param batches visible indicators for detection, by number, so that new ones change only the last rules
 * @returns the number of indicators that no log source shows
 */
export async function* sigmaRules(
  subject: SigmaSubject,
  batches: AsyncIterable<readonly ExportIndicator[]>,
  changed: SigmaChange,
): AsyncGenerator<SigmaDocument, number> {
  const open = new Map(SIGMA_RULE_KINDS.map((kind) => [kind, openRule(kind, 1)]));
  let leftOut = 0;
  for await (const batch of batches) {
    for (const row of batch) {
      let isShown = false;
      for (const [kind, rule] of open) {
        const comparisons = kind.comparisons(row);
        if (comparisons.length === 0) continue;
        isShown = true;
        if (hasRoom(rule, comparisons)) {
          addToRule(rule, row, comparisons);
        } else {
          yield ruleDocument(rule, subject, changed);
          const next = openRule(kind, rule.part + 1);
          addToRule(next, row, comparisons);
          open.set(kind, next);
        }
      }
      if (!isShown) leftOut++;
    }
  }
  for (const rule of open.values()) if (rule.comparisons > 0) yield ruleDocument(rule, subject, changed);
  return leftOut;
}

/** The contents of a bundle. */
interface SigmaBundleFacts {
  ruleCount: number;
  /** Indicators with a lower confidence have no rules. */
  minConfidence: number;
  /** Numbers of indicators of types that are not in `SIGMA_TYPES`, by type. */
  leftOut: Readonly<Record<string, number>>;
}

/** Returns the comment at the head of a bundle, each line with its end. */
export function sigmaHead(
  subject: SigmaSubject,
  { ruleCount, minConfidence, leftOut }: SigmaBundleFacts,
): string {
  const attackId = subject.attackId === null ? '' : ` (${subject.attackId.replace(/\W/g, '_')})`;
  const counts = Object.entries(leftOut).filter(([, count]) => count > 0);
  const lines = [
    `Sigma rules for the ${subjectKind(subject)} ${shownName(subject)}${attackId}, written by Tipline.`,
    ruleCount === 0
      ? 'No rules: nothing is known of it that a log could show, or the filters exclude all.'
      : `Rules: ${ruleCount}, one a document.`,
  ];
  if (minConfidence > 0)
    lines.push(`Indicators with a confidence below ${minConfidence} have no rules (minConfidence).`);
  if (counts.length > 0) {
    const list = counts.map(([type, count]) => `${count} ${type}`).join(', ');
    lines.push(`Left out, because no log source of Sigma shows them: ${list}.`);
  }
  if ((leftOut.MUTEX ?? 0) > 0) {
    lines.push('Mutexes: Windows and Sysmon log none; look for them in memory or with an EDR.');
  }
  return lines.map((line) => `# ${line}\n`).join('');
}

/**
 * Returns the comment at the end of a bundle; empty if nothing was left out.
 * @param indicators of `SIGMA_TYPES` that no rule can express
 * @param placeholders community rules that need values of the site
 */
export function sigmaTail({
  indicators,
  placeholders,
}: Record<'indicators' | 'placeholders', number>): string {
  let text = '';
  const examples = 'folders, names with placeholders, keys that Windows writes to';
  if (indicators > 0)
    text += `# Left out besides, because a rule would find everything or nothing: ${indicators} (${examples}).\n`;
  if (placeholders > 0)
    text += `# Left out: ${placeholders} community rules with placeholders (|expand), whose values each site defines.\n`;
  return text;
}
