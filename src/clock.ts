/** Where time comes from; tests own it. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
