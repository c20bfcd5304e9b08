import createClient from 'openapi-fetch';
import type { components, paths } from './generated/openapi-typescript.js';
import { check, settings } from './seen.js';

const client = createClient<paths>({
  baseUrl: settings.baseUrl,
  headers: { authorization: `Bearer ${settings.key}` },
});

const types: components['schemas']['IndicatorType'][] = ['IPV4', 'DOMAIN'];
const list = await client.GET('/api/v1/indicators', { params: { query: { types, pageSize: 3 } } });
if (!list.data) throw new Error(list.error.error);
const found = await client.GET('/api/v1/indicators', {
  params: { query: { q: '185.132.17.160', type: 'IPV4' } },
});
const id = found.data?.data[0]?.id ?? '';
const context = await client.GET('/api/v1/indicators/{id}/context', { params: { path: { id } } });
const csv = await client.GET('/api/v1/exports/{format}', {
  params: { path: { format: 'csv' }, query: { q: '185.132.17.160', csvGuard: 'off' } },
  parseAs: 'text',
});
const misp = await client.GET('/api/v1/exports/{format}', {
  params: { path: { format: 'misp' }, query: { q: '185.132.17.160' } },
});
const stix = await client.GET('/api/v1/exports/{format}', {
  params: { path: { format: 'stix' }, query: { q: '185.132.17.160' } },
});
const actors = await client.GET('/api/v1/actors', { params: { query: { active: true } } });
const campaigns = await client.GET('/api/v1/campaigns', { params: { query: { status: 'CONCLUDED' } } });
const actor = context.data?.actors[0]?.id ?? '';
const sigma = await client.GET('/api/sigma/actor/{id}', { params: { path: { id: actor } }, parseAs: 'text' });
const ready = await client.GET('/api/health/ready');
const refused = await client.GET('/api/v1/indicators', { params: { query: { pageSize: 501 } } });

check('openapi-typescript', {
  total: list.data.total,
  values: list.data.data.map(({ value }) => value),
  types: list.data.data.map(({ type }) => type),
  verdict: context.data?.enrichmentSummary.verdict ?? '',
  actors: context.data?.actors.map(({ name }) => name) ?? [],
  csv: typeof csv.data === 'string' ? csv.data : '',
  mispEvent: typeof misp.data === 'object' && 'Event' in misp.data ? misp.data.Event.uuid : '',
  stixObjects: typeof stix.data === 'object' && 'objects' in stix.data ? stix.data.objects.length : 0,
  activeActors: actors.data?.total ?? 0,
  concludedCampaigns: campaigns.data?.total ?? 0,
  sigma: sigma.data ?? '',
  ready: ready.data?.status ?? '',
  refused: { status: refused.response.status, code: refused.error?.code ?? '' },
});
