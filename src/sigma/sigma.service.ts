import { setImmediate } from 'node:timers/promises';
import type { Principal } from '../db/visibility.ts';
import { exportCacheKey } from '../exports/export-cache-key.ts';
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
import type { CommunityRule, CommunityRules } from './community-rules.ts';
import { isWantedRule, type RuleFilters, type RuleSource } from './rule-filters.ts';
import { findSubject, readTechniqueIds } from './sigma.queries.ts';
import { rulesFor } from './technique-rules.ts';

export interface Bundle {
  subject: SigmaSubject;
  /** The rules in YAML, one document per rule. */
  text: string;
  ruleCount: number;
}

export interface WantedRules {
  kind: SigmaSubject['kind'];
  id: string;
  /** Of indicators. */
  minConfidence: number;
  filters: RuleFilters;
}

/** The rules of an actor or a campaign, and what is left out of them. */
export interface ChosenRules {
  subject: SigmaSubject;
  /** Tipline's rules, those for indicators first. */
  own: readonly (SigmaDocument & { source: RuleSource })[];
  community: readonly CommunityRule[];
  /** Community rules with placeholders. */
  placeholders: readonly CommunityRule[];
  /** Numbers of indicators that no log source shows, by type. */
  skippedTypes: Readonly<Record<string, number>>;
  /** The number of other indicators that no rule can express. */
  skippedValues: number;
}

const SHAPE: ExportShape = {
  types: SIGMA_TYPES,
  detectionOnly: true,
  order: 'number',
  columns: ['type', 'value', 'severity', 'tlp', 'modifiedAt', 'ofCertificate', 'whitelistedParts'],
  reads: { changedAt: true },
};

/**
 * Chooses the detection rules of an actor or a campaign: rules for its indicators and, for its techniques,
 * those of Tipline and of the community, if any.
 * @returns undefined if the actor or campaign does not exist or is not visible to the principal
 */
export async function chooseRules(
  database: SnapshotSource,
  principal: Principal,
  { kind, id, minConfidence, filters }: WantedRules,
  community: CommunityRules | null,
): Promise<ChosenRules | undefined> {
  const { db } = database;
  const subject = await findSubject(db, principal, kind, id);
  if (!subject) return undefined;
  const techniques = await readTechniqueIds(db, principal, id);
  const link = kind === 'actor' ? { actorId: id } : { campaignId: id };
  const selection = { principal, filters: { ...link, minConfidence } };
  // The rules name the subject, so that another name or ATT&CK id is a change of them.
  const names = JSON.stringify([subject.name, subject.attackId]);
  const snapshot = await openSnapshot(
    database,
    selection,
    SHAPE,
    names,
    exportCacheKey(selection, `sigma ${kind}`),
  );
  const changed = { createdAt: subject.createdAt, modifiedAt: snapshot.info.changedAt ?? subject.createdAt };
  const written = await collect(sigmaRules(subject, snapshot.read(), changed));
  const isFrom = (source: RuleSource) => filters.source?.includes(source) ?? true;
  const isWanted = (rule: SigmaFacts) => isWantedRule(filters, rule);
  const of = (source: RuleSource, rules: () => readonly SigmaDocument[]) =>
    isFrom(source) ? rules().map((rule) => ({ ...rule, source })) : [];
  const others = isFrom('community') ? community?.rulesFor(techniques, isWanted) : undefined;
  // Indicators that are not for detection are not reported as left out.
  const { 'not-for-detection': _, ...skippedTypes } = snapshot.skipped;
  return {
    subject,
    own: [...of('indicators', () => written.rules), ...of('own', () => rulesFor(techniques))].filter(
      isWanted,
    ),
    community: others?.documents ?? [],
    placeholders: others?.placeholders ?? [],
    skippedTypes,
    skippedValues: written.leftOut,
  };
}

/** Returns the rules one by one, each a YAML document. */
export function textsOf({ own, community }: ChosenRules): string[] {
  return [...own, ...community].map(({ text }) => text);
}

/** Builds the bundle of an actor or a campaign in YAML (see `chooseRules`). */
export async function buildBundle(
  database: SnapshotSource,
  principal: Principal,
  wanted: WantedRules,
  community: CommunityRules | null,
): Promise<Bundle | undefined> {
  const chosen = await chooseRules(database, principal, wanted, community);
  if (!chosen) return undefined;
  const { subject, skippedTypes, skippedValues, placeholders } = chosen;
  const rules = textsOf(chosen);
  const head = sigmaHead(subject, {
    ruleCount: rules.length,
    minConfidence: wanted.minConfidence,
    leftOut: skippedTypes,
  });
  const text =
    [head, ...rules].join('---\n') +
    sigmaTail({ indicators: skippedValues, placeholders: placeholders.length });
  return { subject, text, ruleCount: rules.length };
}

/** Collects the rules; other requests continue after each one. */
export async function collect(
  rules: AsyncGenerator<SigmaDocument, number>,
): Promise<{ rules: SigmaDocument[]; leftOut: number }> {
  const collected: SigmaDocument[] = [];
  for (;;) {
    const { done, value } = await rules.next();
    if (done) return { rules: collected, leftOut: value };
    collected.push(value);
    await setImmediate();
  }
}
