// What benches call without a server: bundled with it, as dist/bench.js.
export { openDatabase } from '../src/db/open.ts';
export { postgresDialect } from '../src/db/postgres.ts';
export { PLANNED_ONCE, PLANNED_ONCE_TEXTS } from '../src/db/prepared-statements.ts';
export { findActor, listActors } from '../src/features/actors/actors.queries.ts';
export { findCampaign, listCampaigns } from '../src/features/campaigns/campaigns.queries.ts';
export { DEFAULT_OPTIONS, formatOf } from '../src/features/exports/formats.ts';
export { findContext, findIndicator } from '../src/features/indicators/indicators.queries.ts';
export { listIndicators } from '../src/features/indicators/pages.queries.ts';
export { addEntry, removeEntry } from '../src/features/whitelist/whitelist.service.ts';
export { indicatorId } from '../src/model/identity.ts';
export { normalize } from '../src/model/normalize.ts';
