import type { StixObject } from '../formats/stix/common.ts';
import { indicatorObjects } from '../formats/stix/indicators.ts';
import { TIPLINE_EXTENSION } from '../model/identity.ts';
import type { EndedState } from './objects.queries.ts';

/**
 * Returns the object of a state that has ended, as its last version: an indicator that is valid until then, observed data
 * and a vulnerability as revoked. It has only what was visible in that state.
 */
export function endOf(state: EndedState): StixObject {
  const { createdAt, modifiedAt } = state;
  const [object] = indicatorObjects({
    ...state,
    number: 0,
    version: 0,
    normalized: state.value,
    source: '',
    firstSeen: createdAt,
    expiresAt: null,
    whitelistedParts: [],
    externalIds: [],
    records: [],
    originalIds: [],
    indicates: [],
    score: null,
    group: null,
  });
  // STIX 2.1 §4.7: later than `valid_from`.
  const validUntil = new Date(Math.max(Number(modifiedAt), Number(createdAt) + 1)).toISOString();
  return {
    ...object,
    // These name a source, which may be another one by now.
    description: undefined,
    extensions: ofValue(object),
    ...(object.type === 'indicator' ? { valid_until: validUntil } : { revoked: true }),
  };
}

/** Returns the extension of observed data with its value alone, by which a copy finds the indicator; undefined: another object. */
function ofValue({ extensions }: StixObject): StixObject['extensions'] {
  const stated = (extensions as Record<string, Record<string, unknown>> | undefined)?.[TIPLINE_EXTENSION];
  if (stated?.value === undefined) return undefined;
  const { extension_type, observable_type, of_certificate, value } = stated;
  return { [TIPLINE_EXTENSION]: { extension_type, observable_type, of_certificate, value } };
}
