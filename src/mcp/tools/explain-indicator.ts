import { type Static, Type } from 'typebox';
import { inSnapshot } from '../../db/database.ts';
import { nullable } from '../../http/schema.ts';
import { toContext } from '../../indicators/indicators.mappers.ts';
import type { IndicatorContext } from '../../indicators/indicators.schema.ts';
import { findContext } from '../../indicators/read/indicators.queries.ts';
import { findStatements } from '../../indicators/read/statements.queries.ts';
import { isUuid } from '../../model/uuid.ts';
import { type Caller, McpInputError } from '../caller.ts';
import {
  ActorPart,
  actorPart,
  CampaignPart,
  campaignPart,
  IndicatorPart,
  indicatorPart,
  integer,
  ReportPart,
  reportPart,
  text,
  textOrNull,
  texts,
} from '../parts.ts';
import { label, prose, unmarked, word } from '../third-party.ts';
import { answerOf, defineTool, fitting, inputOf, roomBeside } from '../tool.ts';
import { MatchPart, matchesOf, toMatch } from './look-up.ts';

const MOST = { statements: 6, providers: 6, entities: 6, reports: 6, related: 4, tags: 15, parts: 20 };
const MAX_NOTE = 300;

const Statement = Type.Object({
  source: text('The name of the source.'),
  confidence: nullable(integer()),
  severity: textOrNull(),
  tlp: text(),
  tags: texts(),
  firstSeen: textOrNull(),
  lastSeen: textOrNull(),
  delistedAt: textOrNull(),
  forDetection: Type.Boolean({ description: 'false: context only, not for blocking.' }),
});

const Provider = Type.Object({
  provider: text('The name of the provider.'),
  verdict: text(),
  score: nullable(integer()),
  fresh: Type.Boolean(),
  error: textOrNull('Why there is no judgement.'),
});

const Note = Type.Object({
  source: textOrNull('Who wrote it; null: see the reports.'),
  name: textOrNull('Its name or type.'),
  text: text('What it says.'),
});

export const explainTool = defineTool({
  name: 'explain_indicator',
  title: 'Explain an indicator',
  description:
    'All that is known about one indicator: the verdict and where the confidence comes from, what each source and ' +
    'enrichment provider says, actors, campaigns and reports that it belongs to, notes, and related indicators. Give its id or value.',
  scopes: ['indicators:read'],
  input: inputOf({
    id: Type.Optional(Type.String({ description: 'The id of the indicator, a UUID.' })),
    value: Type.Optional(
      Type.String({ minLength: 1, maxLength: 8_192, description: 'The observable, plain or defanged.' }),
    ),
  }),
  output: answerOf({
    indicator: Type.Object({
      ...IndicatorPart.properties,
      confidencePinned: Type.Boolean({ description: 'Whether an analyst has set the confidence.' }),
      whitelistedParts: Type.Array(Type.String(), {
        description: 'Of a network or domain: addresses, networks and names that must not be blocked.',
      }),
    }),
    confidenceFrom: text('Who decides the confidence.'),
    statements: Type.Array(Statement, { description: 'What its sources say, the latest import first.' }),
    providers: Type.Array(Provider, { description: 'What enrichment providers answered.' }),
    actors: Type.Array(ActorPart),
    campaigns: Type.Array(CampaignPart),
    reports: Type.Array(ReportPart),
    notes: Type.Array(Note, { description: 'What sources wrote about it.' }),
    related: Type.Array(MatchPart, {
      description: 'Indicators of networks around it, domains above it, or the same file.',
    }),
    leftOut: Type.Object(
      {
        actors: integer('Further actors.'),
        campaigns: integer('Further campaigns.'),
        reports: integer('Further reports.'),
        notes: integer('Further notes.'),
        related: integer('Further related indicators.'),
      },
      { description: 'How many of each are left out. GET /api/v1/indicators/{id}/context has all.' },
    ),
  }),
  async run({ id, value }, caller) {
    const { data, principal } = caller;
    const wanted = await idOf({ id, value }, caller);
    const found = await data.database.read((db) =>
      inSnapshot(db, async (snapshot) => ({
        row: await findContext(snapshot, principal, wanted),
        statements: await findStatements(snapshot, principal, wanted, MOST.statements),
      })),
    );
    const { row, statements } = found;
    if (!row) throw new McpInputError(UNKNOWN);
    data.interest.record(row.id, principal.now);
    const context = toContext(row, principal.now);
    const related = (await matchesOf(caller, row.value)).filter(({ indicator }) => indicator.id !== row.id);
    const { actors, campaigns, reports } = context;
    const answer = {
      indicator: {
        ...indicatorPart({ ...row, source: context.source.name }),
        tags: context.tags.slice(0, MOST.tags).map(word),
        confidencePinned: context.confidenceLocked,
        whitelistedParts: context.whitelistedParts.slice(0, MOST.parts),
      },
      confidenceFrom: confidenceFrom(context),
      statements: statements.map(({ importedAt: _, ...said }) => ({
        ...said,
        source: label(said.source),
        tags: said.tags.slice(0, 5).map(word),
        firstSeen: said.firstSeen?.toISOString() ?? null,
        lastSeen: said.lastSeen?.toISOString() ?? null,
        delistedAt: said.delistedAt?.toISOString() ?? null,
      })),
      providers: context.enrichments
        .slice(0, MOST.providers)
        .map(({ provider, verdict: judged, score: given, fresh, error }) => ({
          provider,
          verdict: judged,
          score: given,
          fresh,
          error: error && label(error),
        })),
      actors: actors.slice(0, MOST.entities).map(actorPart),
      campaigns: campaigns.slice(0, MOST.entities).map(campaignPart),
      reports: reports.slice(0, MOST.reports).map(reportPart),
      related: related.slice(0, MOST.related).map(toMatch),
    };
    const notes = notesOf(context);
    const shownNotes = fitting(notes, roomBeside(answer));
    return {
      ...answer,
      notes: shownNotes,
      leftOut: {
        actors: actors.length - answer.actors.length,
        campaigns: campaigns.length - answer.campaigns.length,
        reports: reports.length - answer.reports.length,
        notes: notes.length - shownNotes.length,
        related: related.length - answer.related.length,
      },
    };
  },
});

const UNKNOWN =
  'There is no such indicator: it is not known, or not visible to this API key. That does not mean that it is harmless. look_up ' +
  'reports what is listed above a value.';

async function idOf(given: { id?: string; value?: string }, caller: Caller): Promise<string> {
  const { id, value } = given;
  if ((id === undefined) === (value === undefined)) throw new McpInputError('Give either id or value.');
  if (id !== undefined) {
    if (!isUuid(id)) throw new McpInputError('id must be the id of an indicator (a UUID).');
    return id.toLowerCase();
  }
  const matches = await matchesOf(caller, unmarked(value ?? ''));
  const exact = matches.find(({ relation }) => relation === 'exact');
  if (!exact) throw new McpInputError(UNKNOWN);
  return exact.indicator.id;
}

function confidenceFrom({ confidenceLocked, enrichments, source }: IndicatorContext): string {
  if (confidenceLocked) return 'An analyst has pinned it.';
  const judged = enrichments.filter(({ score: given, error }) => given !== null && error === null);
  const [best] = judged.sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  return best
    ? `The highest score of the providers, that of ${best.provider}.`
    : `The source ${label(source.name)}.`;
}

/** Returns what sources wrote about an indicator, in records about it and in related statements. */
function notesOf({ records, attributes }: IndicatorContext): Static<typeof Note>[] {
  return [
    ...records.flatMap(({ source, name, description }) =>
      name === null && description === null
        ? []
        : [{ source: label(source), name: name && label(name), text: prose(description ?? '', MAX_NOTE) }],
    ),
    ...attributes.map(({ type, value, name, description }) => ({
      source: null,
      name: label(name ?? type),
      text: prose([value, description].filter((part) => part !== null).join(' — '), MAX_NOTE),
    })),
  ];
}
