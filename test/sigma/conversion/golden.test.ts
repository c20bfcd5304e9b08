import { readFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  type ConvertibleRule,
  convertRule,
  QUERY_LANGUAGES,
  type QueryLanguage,
} from '../../../src/sigma/conversion/convert.ts';
import { Unconvertible } from '../../../src/sigma/conversion/unconvertible.ts';
import { ruledTechniques, rulesOf } from '../../../src/sigma/technique-rules.ts';
import { expectGolden } from '../../formats/golden.ts';

type Rule = ConvertibleRule & { title: string };

/** The rules for indicators of every kind. */
const OF_INDICATORS = parseAllDocuments(
  readFileSync(new URL('../../golden/sigma-actor.yml', import.meta.url), 'utf8'),
).flatMap((document) => (document.toJS() as Rule | null) ?? []);

/** The first two technique rules of each log source. */
function techniqueRules(): Rule[] {
  const counts = new Map<string, number>();
  return ruledTechniques()
    .flatMap(rulesOf)
    .map(({ content }) => content as unknown as Rule)
    .filter(({ logsource: { product, category, service } }) => {
      const source = [product, category, service].join('/');
      counts.set(source, (counts.get(source) ?? 0) + 1);
      return (counts.get(source) ?? 0) <= 2;
    });
}

function written(rule: Rule, language: QueryLanguage): string {
  try {
    const { query, isMapped } = convertRule(rule, language);
    return `${query}${isMapped ? '' : '\n(names of the rule)'}`;
  } catch (error) {
    if (error instanceof Unconvertible) return `(${error.reason}: ${error.message})`;
    throw error;
  }
}

describe.each(QUERY_LANGUAGES)('queries in %s', (language) => {
  it('match the golden file', async () => {
    const rules = [...OF_INDICATORS, ...techniqueRules()];
    const texts = rules.map((rule) => `# ${rule.title}\n${written(rule, language)}\n`);
    await expectGolden(texts.join('\n'), `sigma-queries-${language}.txt`);
  });
});
