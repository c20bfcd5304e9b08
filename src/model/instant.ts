/** A moment, as far as those read it who write it down: the times of millions are not worth a Date each. */
export type Instant = Pick<Date, 'toISOString' | 'valueOf'>;
