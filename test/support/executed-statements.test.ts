import { CompiledQuery, type LogEvent } from 'kysely';
import { describe, expect, it } from 'vitest';
import { checkStatement, handling, requireConditions } from './executed-statements.ts';

const executed = (url: string, sql: string) =>
  handling({ method: 'GET', url }, () =>
    checkStatement({ level: 'query', query: CompiledQuery.raw(sql), queryDurationMillis: 1 } as LogEvent),
  );
const LIST = '/api/v1/indicators';

describe('the executed-statement check', () => {
  it.each([
    ['without a condition', 'select id from indicator'],
    ['with the ceiling alone', 'select id from indicator where "indicator"."tlp" <= $1::tlp'],
    [
      'with the condition of another alias',
      'select 1 from relationship as r join actor on "actor"."tlp" <= $1::tlp',
    ],
    ['in a subquery', 'select 1 where exists (select from report where id = $1)'],
  ])('detects a protected table %s', (_, sql) => {
    executed(LIST, sql);
    expect(requireConditions).toThrow('without its condition');
    expect(requireConditions).not.toThrow();
  });

  it.each([
    [
      'with its condition',
      'select 1 from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $1::tlp)',
    ],
    ['with the condition of its alias', 'select 1 from relationship as r where "r"."tlp" <= $1::tlp'],
    ['that is not marked', 'select value from revision'],
  ])('accepts a table %s', (_, sql) => {
    executed(LIST, sql);
    expect(requireConditions).not.toThrow();
  });

  it('ignores statements outside requests', () => {
    checkStatement({
      level: 'query',
      query: CompiledQuery.raw('select id from indicator'),
      queryDurationMillis: 1,
    } as LogEvent);
    expect(requireConditions).not.toThrow();
  });
});
