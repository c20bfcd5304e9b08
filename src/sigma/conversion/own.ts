/** Returns an entry of a record, without those that every object inherits: keys are words of rules of others. */
export const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
