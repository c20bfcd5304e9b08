import {
  exportIndicators,
  getActorSigma,
  getIndicatorContext,
  getReadiness,
  listActors,
  listCampaigns,
  listIndicators,
  type MispEvent,
  type StixBundle,
} from './generated/orval.js';
import { check, settings } from './seen.js';

const options = { headers: { authorization: `Bearer ${settings.key}` } };

/** @throws when the answer is not the one described for success */
function expectOk<T extends { status: number }>(answer: T): Extract<T, { status: 200 }> {
  if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
  return answer as Extract<T, { status: 200 }>;
}

/** An operation that may answer with JSON lines gives its answers unread, whatever their media type. */
const textOf = async (answer: object) =>
  'stream' in answer && answer.stream instanceof Response ? answer.stream.text() : '';

const list = expectOk(await listIndicators({ types: ['IPV4', 'DOMAIN'], pageSize: 3 }, options)).data;
const found = expectOk(await listIndicators({ q: '185.132.17.160', type: 'IPV4' }, options)).data;
const id = found.data[0]?.id ?? '';
const context = expectOk(await getIndicatorContext(id, options)).data;
const of = { q: '185.132.17.160' };
const csv = expectOk(await exportIndicators('csv', of, options));
const misp = expectOk(await exportIndicators('misp', of, options));
const stix = expectOk(await exportIndicators('stix', of, options));
const actors = expectOk(await listActors({ active: true }, options)).data;
const campaigns = expectOk(await listCampaigns({ status: 'CONCLUDED' }, options)).data;
const actor = context.actors[0]?.id ?? '';
const sigma = expectOk(await getActorSigma(actor, undefined, options)).data;
const ready = expectOk(await getReadiness(options)).data;
const refused = await listIndicators({ pageSize: 501 }, options);

check('orval', {
  total: list.total,
  values: list.data.map(({ value }) => value),
  types: list.data.map(({ type }) => type),
  verdict: context.enrichmentSummary.verdict,
  actors: context.actors.map(({ name }) => name),
  csv: await textOf(csv),
  mispEvent: (JSON.parse(await textOf(misp)) as MispEvent).Event.uuid,
  stixObjects: (JSON.parse(await textOf(stix)) as StixBundle).objects.length,
  activeActors: actors.total,
  concludedCampaigns: campaigns.total,
  sigma,
  ready: ready.status,
  refused: { status: refused.status, code: refused.status === 400 ? refused.data.code : '' },
});
