/** Returns the current time; tests provide their own. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
