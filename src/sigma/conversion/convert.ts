import { type Column, type Events, toColumns } from './columns.ts';
import { detectionExpression } from './detection.ts';
import { both, type Expression, replaceComparisons } from './expression.ts';
import { esqlQuery } from './languages/esql.ts';
import { kustoQuery } from './languages/kusto.ts';
import { luceneQuery } from './languages/lucene.ts';
import { splunkQuery } from './languages/splunk.ts';
import { defenderEvents } from './products/defender.ts';
import { elasticEvents } from './products/elastic.ts';
import { sentinelEvents } from './products/sentinel.ts';
import { splunkEvents } from './products/splunk.ts';
import type { LogSource } from './products/windows.ts';
import { Unconvertible } from './unconvertible.ts';

/** The languages of queries that rules can be converted to. */
export const QUERY_LANGUAGES = [
  'splunk-spl',
  'sentinel-kql',
  'defender-kql',
  'elastic-esql',
  'elastic-lucene',
] as const;
export type QueryLanguage = (typeof QUERY_LANGUAGES)[number];

interface Language {
  events(source: LogSource): Events;
  /** @param table of the events */
  write(expression: Expression<Column>, table: string): string;
}

const LANGUAGES: Readonly<Record<QueryLanguage, Language>> = {
  'splunk-spl': { events: splunkEvents, write: splunkQuery },
  'sentinel-kql': { events: sentinelEvents, write: kustoQuery },
  'defender-kql': { events: defenderEvents, write: kustoQuery },
  'elastic-esql': { events: (source) => elasticEvents(source, 'esql'), write: esqlQuery },
  'elastic-lucene': { events: (source) => elasticEvents(source, 'lucene'), write: luceneQuery },
};

/** The parts of a Sigma rule that a query depends on. */
export interface ConvertibleRule {
  logsource: Readonly<Record<string, unknown>>;
  detection: unknown;
}

export interface ConvertedQuery {
  query: string;
  /**
   * false: the product's names for this log source are not known. The query has the rule's own names of fields, and no
   * condition for the log source.
   */
  isMapped: boolean;
}

/** Queries are shorter than this; the longest ones are of indicators. */
const MAX_LENGTH = 1_000_000;

/**
 * Converts a Sigma rule to a query that finds the same events.
 * @throws Unconvertible if the language cannot express the rule
 */
export function convertRule(rule: ConvertibleRule, language: QueryLanguage): ConvertedQuery {
  const { events: eventsOf, write } = LANGUAGES[language];
  const events = eventsOf(logSourceOf(rule.logsource));
  const detection = replaceComparisons(detectionExpression(rule.detection), (comparison) =>
    toColumns(comparison, events),
  );
  if (detection.kind === 'constant')
    throw new Unconvertible('never', `a detection that is always ${detection.value}`);
  const query = write(both([events.condition, detection]), events.table);
  if (query.length > MAX_LENGTH)
    throw new Unconvertible('size', `a query of more than ${MAX_LENGTH} characters`);
  return { query, isMapped: events.isMapped };
}

function logSourceOf({ product, category, service }: ConvertibleRule['logsource']): LogSource {
  const word = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : '');
  return { product: word(product), category: word(category), service: word(service) };
}
