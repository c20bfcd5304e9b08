import { type Static, Type } from 'typebox';
import { type Db, inSnapshot } from '../../db/database.ts';
import { toActorDetail } from '../../entities/actors/actors.mappers.ts';
import { findActor, findActorLinks } from '../../entities/actors/actors.queries.ts';
import { toCampaign } from '../../entities/campaigns/campaigns.mappers.ts';
import { findCampaign, findCampaignLinks } from '../../entities/campaigns/campaigns.queries.ts';
import { nullable } from '../../http/schema.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { readTechniqueIds } from '../../sigma/sigma.queries.ts';
import { rulesFor } from '../../sigma/technique-rules.ts';
import { type Caller, McpInputError, may } from '../caller.ts';
import { actorId, campaignId } from '../find-entity.ts';
import {
  ActorPart,
  actorPart,
  actorUri,
  CampaignPart,
  CataloguedPart,
  campaignPart,
  cataloguedPart,
  integer,
  nextOffset,
  offset,
  offsetAfter,
  ReportPart,
  reportPart,
  text,
  textOrNull,
} from '../parts.ts';
import { label, prose, word } from '../third-party.ts';
import { answerOf, defineTool, fitting, inputOf, roomBeside } from '../tool.ts';

const MAX_DESCRIPTION = 2_000;
const MOST = { names: 20, targets: 10, techniques: 40, software: 15, entities: 10, reports: 10, rules: 15 };

const labels = (description: string) => Type.Array(Type.String(), { description });
const Technique = Type.Object({ ...CataloguedPart.properties, tactics: labels('ATT&CK tactics.') });

interface UsedTechnique {
  attackId: string | null;
  name: string;
  tactics: string[];
}

const techniquePart = ({ tactics, ...technique }: UsedTechnique): Static<typeof Technique> => ({
  ...cataloguedPart(technique),
  tactics: tactics.slice(0, 4).map(word),
});

/** Objects that a key sees only with another scope; null: it lacks it. */
const withScope = <T extends Parameters<typeof Type.Array>[0]>(part: T, scope: string) =>
  Type.Union([Type.Array(part), Type.Null()], { description: `null: the API key lacks ${scope}.` });

const used = {
  techniques: Type.Array(Technique, { description: 'The ATT&CK techniques, from offset.' }),
  techniqueCount: integer('All techniques.'),
  nextOffset,
  malware: Type.Array(CataloguedPart, { description: `The first ${MOST.software}.` }),
  tools: Type.Array(CataloguedPart, { description: `The first ${MOST.software}.` }),
};

const SigmaPart = Type.Object(
  {
    ruleCount: integer('Rules for the techniques: Tipline’s own, and those of the community.'),
    titles: labels(`The titles of the first ${MOST.rules} of Tipline’s own.`),
  },
  { description: 'Detection rules: sigma_rules has their text, and the rules for indicators.' },
);

export const actorTool = defineTool({
  name: 'actor_profile',
  title: 'Profile of a threat actor',
  description:
    'A threat actor by id, name, alias or ATT&CK id: other names, motivation, targets, techniques, malware, tools, campaigns, ' +
    'reports, and the Sigma rules that there are for its techniques.',
  scopes: ['actors:read'],
  input: inputOf({
    actor: Type.String({ minLength: 1, maxLength: 200, description: 'Its id, name, alias or ATT&CK id.' }),
    offset,
  }),
  output: answerOf({
    ...ActorPart.properties,
    uri: text('The resource with this profile.'),
    aliases: labels(`The first ${MOST.names} other names.`),
    description: textOrNull('What its source says of it.'),
    country: textOrNull('The country it is said to act for, ISO 3166-1 alpha-2.'),
    motivation: text(),
    sophistication: textOrNull(),
    active: Type.Boolean(),
    confidence: integer(),
    tlp: text(),
    firstSeen: textOrNull(),
    lastSeen: textOrNull(),
    targetSectors: labels('Sectors that it attacks.'),
    targetCountries: labels('Countries that it attacks.'),
    ...used,
    sigma: SigmaPart,
    campaigns: withScope(CampaignPart, 'campaigns:read'),
    reports: withScope(ReportPart, 'indicators:read'),
    indicatorCount: nullable(integer('Linked indicators; null: the API key lacks indicators:read.')),
  }),
  run: async ({ actor, offset: start = 0 }, caller) =>
    actorProfile(caller, await actorId(caller, actor), start),
});

export async function actorProfile(caller: Caller, id: string, start: number) {
  const { principal, data } = caller;
  const found = await readTogether(caller, async (db) => {
    const row = await findActor(db, principal, id);
    const links = await findActorLinks(db, principal, id);
    return row && links && { row, links, techniqueIds: await readTechniqueIds(db, principal, id) };
  });
  if (!found) throw new McpInputError('There is no such actor.');
  const { links, techniqueIds } = found;
  const actor = toActorDetail(found.row);
  const own = rulesFor(techniqueIds);
  const community = (await data.communityRules)?.rulesFor(techniqueIds, () => true).documents ?? [];
  const seesIndicators = may(caller, ['indicators:read']);
  const answer = {
    ...actorPart(actor),
    uri: actorUri(actor.id),
    aliases: actor.aliases.slice(0, MOST.names).map(({ alias }) => word(alias)),
    ...describedPart(actor),
    country: actor.country && word(actor.country),
    motivation: actor.motivation,
    sophistication: actor.sophistication,
    active: actor.active,
    firstSeen: actor.firstSeen,
    lastSeen: actor.lastSeen,
    ...softwarePart(actor),
    sigma: {
      ruleCount: own.length + community.length,
      titles: own.slice(0, MOST.rules).map((rule) => label(titleOf(rule.text))),
    },
    campaigns: may(caller, ['campaigns:read'])
      ? links.campaigns.slice(0, MOST.entities).map(campaignPart)
      : null,
    reports: seesIndicators ? links.reports.slice(0, MOST.reports).map(reportPart) : null,
    indicatorCount: seesIndicators ? Number(links.indicatorCount) : null,
  };
  return { ...answer, ...techniquesPart(actor.techniques, start, roomBeside(answer)) };
}

export const campaignTool = defineTool({
  name: 'campaign_profile',
  title: 'Profile of a campaign',
  description:
    'A campaign by id or name: status, dates, targets, actors, techniques, malware, tools and reports. list_indicators has its indicators.',
  scopes: ['campaigns:read'],
  input: inputOf({
    campaign: Type.String({ minLength: 1, maxLength: 200, description: 'Its id or name.' }),
    offset,
  }),
  output: answerOf({
    id: text('Its id.'),
    name: text('The name.'),
    aliases: labels(`The first ${MOST.names} other names.`),
    description: textOrNull('What its source says of it.'),
    status: text(),
    startDate: textOrNull(),
    endDate: textOrNull(),
    targetSectors: labels('Sectors that it attacks.'),
    targetCountries: labels('Countries that it attacks.'),
    confidence: integer(),
    tlp: text(),
    ...used,
    actorCount: integer('Linked actors.'),
    indicatorCount: integer('Linked indicators.'),
    actors: withScope(ActorPart, 'actors:read'),
    reports: withScope(ReportPart, 'indicators:read'),
  }),
  async run({ campaign: wanted, offset: start = 0 }, caller) {
    const { principal } = caller;
    const id = await campaignId(caller, wanted);
    const found = await readTogether(caller, async (db) => {
      const row = await findCampaign(db, principal, id);
      const links = await findCampaignLinks(db, principal, id);
      return row && links && { row, links };
    });
    if (!found) throw new McpInputError('There is no such campaign.');
    const { links } = found;
    const campaign = toCampaign(found.row);
    const answer = {
      id: campaign.id,
      name: label(campaign.name),
      aliases: links.aliases.slice(0, MOST.names).map(word),
      ...describedPart(campaign),
      status: campaign.status,
      startDate: campaign.startDate,
      endDate: campaign.endDate,
      ...softwarePart(links),
      actorCount: campaign.actorCount,
      indicatorCount: campaign.indicatorCount,
      actors: may(caller, ['actors:read']) ? links.actors.slice(0, MOST.entities).map(actorPart) : null,
      reports: may(caller, ['indicators:read']) ? links.reports.slice(0, MOST.reports).map(reportPart) : null,
    };
    return { ...answer, ...techniquesPart(links.techniques, start, roomBeside(answer)) };
  },
});

/** Reads an object and what is linked to it from one snapshot. */
const readTogether = <T>({ data }: Caller, read: (db: Db) => Promise<T>): Promise<T> =>
  data.database.read((db) => inSnapshot(db, read));

interface Described {
  description: string | null;
  targetSectors: string[];
  targetCountries: string[];
  confidence: number;
  tlp: Tlp;
}

const describedPart = ({
  description,
  targetSectors,
  targetCountries,
  confidence,
  tlp: marking,
}: Described) => ({
  description: description === null ? null : prose(description, MAX_DESCRIPTION),
  targetSectors: targetSectors.slice(0, MOST.targets).map(word),
  targetCountries: targetCountries.slice(0, MOST.targets).map(word),
  confidence,
  tlp: marking,
});

type Software = Record<'malware' | 'tools', readonly { attackId: string | null; name: string }[]>;

const softwarePart = ({ malware, tools }: Software) => ({
  malware: malware.slice(0, MOST.software).map(cataloguedPart),
  tools: tools.slice(0, MOST.software).map(cataloguedPart),
});

/** @param room for them, in characters */
function techniquesPart(techniques: readonly UsedTechnique[], start: number, room: number) {
  const shown = fitting(techniques.slice(start, start + MOST.techniques).map(techniquePart), room);
  return {
    techniques: shown,
    techniqueCount: techniques.length,
    nextOffset: offsetAfter(start + shown.length, techniques.length),
  };
}

/** Returns the title of a Sigma rule. */
export const titleOf = (rule: string): string => /^title: *['"]?(.*?)['"]?$/m.exec(rule)?.[1] ?? '';
