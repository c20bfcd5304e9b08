import { Type } from 'typebox';
import { indicatorType, score, stringEnum } from '../../http/schema.ts';
import { readTechniqueIds } from '../../sigma/sigma.queries.ts';
import { rulesFor } from '../../sigma/technique-rules.ts';
import { actorId } from '../find-entity.ts';
import { listHunted } from '../hunting.queries.ts';
import { huntingQueries, QUERY_LANGUAGES } from '../hunting-queries.ts';
import { integer, nextPage, PAGE_SIZE, page, pageAfter, text } from '../parts.ts';
import { label, observable, prose } from '../third-party.ts';
import { answerOf, defineTool, inputOf } from '../tool.ts';
import { titleOf } from './profiles.ts';

const MAX_RULES = 25;
/** More than all values of a page have. */
const MAX_QUERY = 12_000;
const ATTACK_ID = /^T\d{4}(\.\d{3})?$/;

export const huntingTool = defineTool({
  name: 'hunting_package',
  title: 'Hunting package for an actor',
  description:
    'What to hunt for an actor: indicators for detection in pages, queries for them in the language of a SIEM, and the titles of Sigma ' +
    'rules for its techniques; sigma_rules has their text.',
  scopes: ['actors:read', 'indicators:read'],
  input: inputOf({
    actor: Type.String({ minLength: 1, maxLength: 200, description: 'Its id, name, alias or ATT&CK id.' }),
    language: Type.Optional(
      stringEnum(QUERY_LANGUAGES, {
        default: QUERY_LANGUAGES[0],
        description:
          'The language of the queries: Elastic with ECS fields, Splunk with CIM fields, or Defender XDR.',
      }),
    ),
    types: Type.Optional(
      Type.Array(indicatorType(), { minItems: 1, maxItems: 15, description: 'Of any of these types.' }),
    ),
    minConfidence: Type.Optional(score({ default: 50, description: 'Confidence of at least this.' })),
    page,
  }),
  output: answerOf({
    actorId: text('The id of the actor.'),
    indicators: Type.Array(
      Type.Object({
        id: text('Its id.'),
        type: text(),
        value: text('Defanged.'),
        confidence: integer(),
        lastSeen: text('When it was last seen.'),
      }),
      { description: 'The newest sighting first.' },
    ),
    total: integer('How many indicators match, on all pages.'),
    nextPage,
    queries: Type.Array(
      Type.Object({
        types: Type.Array(text()),
        query: text('With the values of this page, without whitelisted parts of networks.'),
      }),
      { description: 'One for each kind of event.' },
    ),
    notInQueries: integer('Indicators of this page that no query has.'),
    rules: Type.Array(Type.String(), { description: `The titles of the first ${MAX_RULES} Sigma rules.` }),
    ruleCount: integer('Tipline’s own rules for the techniques of the actor.'),
    techniqueIds: Type.Array(Type.String(), {
      description: 'The ATT&CK ids of its techniques, at most 100.',
    }),
  }),
  async run({ actor, language = QUERY_LANGUAGES[0], types, minConfidence = 50, page: current = 1 }, caller) {
    const { principal, data } = caller;
    const { read } = data.database;
    const id = await actorId(caller, actor);
    const filters = { actorId: id, types, minConfidence, forDetection: true };
    const { total, rows } = await read((db) =>
      listHunted(db, principal, filters, { page: current, pageSize: PAGE_SIZE }),
    );
    const techniqueIds = await read((db) => readTechniqueIds(db, principal, id));
    const rules = rulesFor(techniqueIds);
    const observables = rows.map(({ type, value, whitelisted_parts: parts, of_certificate }) => ({
      type,
      value,
      whitelistedParts: parts ?? [],
      ofCertificate: of_certificate,
    }));
    const { queries, leftOut } = huntingQueries(observables, language);
    return {
      actorId: id,
      indicators: rows.map((row) => ({
        id: row.id,
        type: row.type,
        value: observable(row.type, row.value),
        confidence: row.confidence,
        lastSeen: row.last_seen.toISOString(),
      })),
      total,
      nextPage: pageAfter(current, total),
      queries: queries.map(({ types: of, query }) => ({ types: of, query: prose(query, MAX_QUERY) })),
      notInQueries: leftOut,
      rules: rules.slice(0, MAX_RULES).map(({ text: rule }) => label(titleOf(rule))),
      ruleCount: rules.length,
      techniqueIds: techniqueIds.filter((one) => ATTACK_ID.test(one)).slice(0, 100),
    };
  },
});
