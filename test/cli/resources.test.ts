import { describe, expect, it } from 'vitest';
import { openResources } from '../../src/cli/resources.ts';

describe('open resources', () => {
  const setUp = () => {
    const logged: unknown[] = [];
    const closed: string[] = [];
    const resources = openResources({ error: (...line: unknown[]) => void logged.push(line) });
    const add = (name: string, error?: Error) =>
      resources.add(name, async () => {
        closed.push(`${name}, reported as ${resources.closing()}`);
        if (error) throw error;
      });
    return { resources, add, logged, closed };
  };

  it('are closed once, the last one first', async () => {
    const { resources, add, logged, closed } = setUp();
    add('the database');
    add('the spool');
    expect(await resources.close()).toBe(true);
    expect(await resources.close()).toBe(true);
    expect(closed).toEqual(['the spool, reported as the spool', 'the database, reported as the database']);
    expect(resources.closing()).toBeNull();
    expect(logged).toEqual([]);
  });

  it('are all closed when closing one fails, which is logged', async () => {
    const { resources, add, logged, closed } = setUp();
    const err = new Error('disk full');
    add('the database');
    add('the spool', err);
    expect(await resources.close()).toBe(false);
    expect(closed).toHaveLength(2);
    expect(logged).toEqual([[{ err }, 'closing the spool failed']]);
  });
});
