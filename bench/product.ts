// The functions that benchmarks call without a server. The build bundles them with it as dist/bench.js.
export { openDatabase } from '../src/db/open.ts';
export { postgresDialect } from '../src/db/postgres/postgres.ts';
export { findActor, listActors } from '../src/entities/actors/actors.queries.ts';
export { findCampaign, listCampaigns } from '../src/entities/campaigns/campaigns.queries.ts';
export { DEFAULT_OPTIONS, formatOf } from '../src/formats/catalogue.ts';
export { createImporter, fileInput } from '../src/importers/recognize.ts';
export { listInState } from '../src/indicators/details.queries.ts';
export { hasExpiredInSums } from '../src/indicators/expiry/sums.queries.ts';
export { sumExpiries } from '../src/indicators/expiry/sums.ts';
export { findContext, findIndicator } from '../src/indicators/read/indicators.queries.ts';
export { listIndicators } from '../src/indicators/read/list.queries.ts';
export { countSegments } from '../src/indicators/segments/count-segments.queries.ts';
export { indicatorId } from '../src/model/identity.ts';
export { normalize } from '../src/model/normalize.ts';
export { addEntry, loadList, removeEntry, removeList } from '../src/whitelist/whitelist.service.ts';
