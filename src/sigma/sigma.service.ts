import type { Principal } from '../db/visibility.ts';
import { openSnapshot, type SnapshotSource } from '../exports/snapshot.ts';
import type { ExportShape } from '../formats/format.ts';
import {
  SIGMA_TYPES,
  type SigmaDocument,
  type SigmaFacts,
  type SigmaSubject,
  sigmaHead,
  sigmaRules,
  sigmaTail,
} from '../formats/sigma.ts';
import type { CommunityRules } from './community-rules.ts';
import { isWantedRule, type RuleFilters, type RuleSource } from './rule-filters.ts';
import { findSubject, readTechniqueIds } from './sigma.queries.ts';
import { rulesFor } from './technique-rules.ts';

export interface Bundle {
  subject: SigmaSubject;
  /** The rules in YAML, one document per rule. */
  text: string;
  /** The rules one by one, each a YAML document. */
  rules: readonly string[];
}

const SHAPE: ExportShape = {
  types: SIGMA_TYPES,
  detectionOnly: true,
  order: 'number',
  columns: ['type', 'value', 'severity', 'tlp', 'modifiedAt', 'ofCertificate', 'whitelistedParts'],
  reads: { changedAt: true },
};

/**
 * Builds the detection rules of an actor or a campaign: rules for its indicators and, for its techniques,
 * those of Tipline and of the community, if any.
 * @returns undefined if the actor or campaign does not exist or is not visible to the principal
 */
export async function buildBundle(
  database: SnapshotSource,
  principal: Principal,
  wanted: { kind: SigmaSubject['kind']; id: string; minConfidence: number; filters: RuleFilters },
  community: CommunityRules | null,
): Promise<Bundle | undefined> {
  const { db } = database;
  const subject = await findSubject(db, principal, wanted.kind, wanted.id);
  if (!subject) return undefined;
  const techniques = await readTechniqueIds(db, principal, wanted.id);
  const link = wanted.kind === 'actor' ? { actorId: wanted.id } : { campaignId: wanted.id };
  const selection = { principal, filters: { ...link, minConfidence: wanted.minConfidence } };
  const snapshot = await openSnapshot(database, selection, SHAPE, `sigma ${wanted.kind}`);
  const changed = { createdAt: subject.createdAt, modifiedAt: snapshot.info.changedAt ?? subject.createdAt };
  const written = await collect(sigmaRules(subject, snapshot.read(), changed));
  const isFrom = (source: RuleSource) => wanted.filters.source?.includes(source) ?? true;
  const isWanted = (rule: SigmaFacts) => isWantedRule(wanted.filters, rule);
  const chosen = [
    ...(isFrom('indicators') ? written.rules : []),
    ...(isFrom('own') ? rulesFor(techniques) : []),
  ];
  const others = isFrom('community') ? community?.rulesFor(techniques, isWanted) : undefined;
  const rules = [...chosen.filter(isWanted).map(({ text }) => text), ...(others?.documents ?? [])];
  // Indicators that are not for detection are not reported as left out.
  const { 'not-for-detection': _, ...leftOut } = snapshot.skipped;
  const head = sigmaHead(subject, { ruleCount: rules.length, leftOut });
  const text =
    [head, ...rules].join('---\n') +
    sigmaTail({ indicators: written.leftOut, placeholders: others?.placeholders ?? 0 });
  return { subject, text, rules };
}

async function collect(
  rules: AsyncGenerator<SigmaDocument, number>,
): Promise<{ rules: SigmaDocument[]; leftOut: number }> {
  const collected: SigmaDocument[] = [];
  for (;;) {
    const { done, value } = await rules.next();
    if (done) return { rules: collected, leftOut: value };
    collected.push(value);
  }
}
