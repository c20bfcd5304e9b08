import { client } from './generated/hey-api/client.gen.js';
import {
  exportIndicators,
  getActorSigma,
  getIndicatorContext,
  getReadiness,
  listActors,
  listCampaigns,
  listIndicators,
  type MispEvent,
} from './generated/hey-api/index.js';
import { check, settings } from './seen.js';

client.setConfig({ baseUrl: settings.baseUrl, auth: () => settings.key });

const list = await listIndicators({ query: { types: ['IPV4', 'DOMAIN'], pageSize: 3 }, throwOnError: true });
const found = await listIndicators({ query: { q: '185.132.17.160', type: 'IPV4' }, throwOnError: true });
const id = found.data.data[0]?.id ?? '';
const context = await getIndicatorContext({ path: { id }, throwOnError: true });
const of = { q: '185.132.17.160' };
const csv = await exportIndicators({
  path: { format: 'csv' },
  query: of,
  parseAs: 'text',
  throwOnError: true,
});
const misp = await exportIndicators({ path: { format: 'misp' }, query: of, throwOnError: true });
const stix = await exportIndicators({
  path: { format: 'stix' },
  query: of,
  parseAs: 'json',
  throwOnError: true,
});
const actors = await listActors({ query: { active: true }, throwOnError: true });
const campaigns = await listCampaigns({ query: { status: 'CONCLUDED' }, throwOnError: true });
const actor = context.data.actors[0]?.id ?? '';
const sigma = await getActorSigma({ path: { id: actor }, parseAs: 'text', throwOnError: true });
const ready = await getReadiness({ throwOnError: true });
const refused = await listIndicators({ query: { pageSize: 501 } });

check('hey-api', {
  total: list.data.total,
  values: list.data.data.map(({ value }) => value),
  types: list.data.data.map(({ type }) => type),
  verdict: context.data.enrichmentSummary.verdict,
  actors: context.data.actors.map(({ name }) => name),
  csv: typeof csv.data === 'string' ? csv.data : '',
  // This generator types an answer by one of its media types: the others are told by the format that was asked for.
  mispEvent: (misp.data as unknown as MispEvent).Event.uuid,
  stixObjects: typeof stix.data === 'object' && 'objects' in stix.data ? stix.data.objects.length : 0,
  activeActors: actors.data.total,
  concludedCampaigns: campaigns.data.total,
  sigma: sigma.data,
  ready: ready.data.status,
  refused: { status: refused.response?.status ?? 0, code: refused.error?.code ?? '' },
});
