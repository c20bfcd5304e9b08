import type { Db, PreparedQuery } from '../../src/db/database.ts';

/** The same database, and what was sent to it by `executeQuery`. */
export function recording(db: Db): { db: Db; sent: PreparedQuery<unknown>[] } {
  const sent: PreparedQuery<unknown>[] = [];
  const recorded = new Proxy(db, {
    get(target, name) {
      if (name === 'executeQuery')
        return (query: PreparedQuery<unknown>) => {
          sent.push(query);
          return target.executeQuery(query);
        };
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { db: recorded, sent };
}
