import type { NormalizeResult } from '../model/normalize-result.ts';
import type { IndicatorRecord } from './importer.ts';
import { notBefore } from './record-fields.ts';

/** The fields that a feed's record may state for its observables; all others are unstated. */
export type StatedFields = Partial<
  Pick<
    IndicatorRecord,
    | 'externalIds'
    | 'statedAt'
    | 'tlp'
    | 'confidence'
    | 'severity'
    | 'tags'
    | 'firstSeen'
    | 'lastSeen'
    | 'expiresAt'
    | 'forDetection'
  >
>;

/** Returns the indicator, or the reason why the value is none. */
export function indicatorRecord(
  observable: NormalizeResult,
  stated: StatedFields,
): IndicatorRecord | { rejected: string } {
  if ('rejected' in observable) return observable;
  const firstSeen = stated.firstSeen ?? null;
  return {
    kind: 'indicator',
    externalIds: [],
    statedAt: null,
    tlp: null,
    confidence: null,
    severity: null,
    tags: [],
    expiresAt: null,
    forDetection: true,
    ...stated,
    firstSeen,
    lastSeen: notBefore(firstSeen, stated.lastSeen ?? null),
    ...observable,
  };
}
