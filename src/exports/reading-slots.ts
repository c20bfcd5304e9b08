import { ApiError } from '../http/errors.ts';
import { openSlots, type Slots } from '../http/slots.ts';

/** Exports and bundles of rules read from the database at once; each holds a connection of its pool until it is read. */
const MAX_READING = 10;
/** Of these, those of one key or account, so that the other slots are left to others. */
const MAX_READING_EACH = 4;

/** Opens the slots in which exports and rules are read from the database. */
export function openReadingSlots(): Slots {
  const busy = () =>
    new ApiError('service_unavailable', 'Too many exports or detection rules are being read.', {
      'retry-after': '30',
    });
  return openSlots({ count: MAX_READING, each: MAX_READING_EACH, busy });
}
