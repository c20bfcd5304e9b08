import type { Static } from 'typebox';
import type * as accounts from '../../../src/accounts/accounts.schema.ts';
import type * as keys from '../../../src/api-keys/api-keys.schema.ts';
import type * as audit from '../../../src/audit/audit.schema.ts';
import type * as catalogues from '../../../src/catalogues/catalogues.schema.ts';
import type * as enrichments from '../../../src/enrichment/enrichments.schema.ts';
import type * as actors from '../../../src/entities/actors/actors.schema.ts';
import type * as campaigns from '../../../src/entities/campaigns/campaigns.schema.ts';
import type * as reports from '../../../src/entities/reports/reports.schema.ts';
import type * as feeds from '../../../src/feeds/feeds.app.schema.ts';
import type { Operation } from '../../../src/http/routes.ts';
import type * as imports from '../../../src/imports/imports.schema.ts';
import type * as confidence from '../../../src/indicators/confidence/confidence.schema.ts';
import type * as indicators from '../../../src/indicators/indicators.app.schema.ts';
import type * as lookup from '../../../src/lookup/lookup.app.schema.ts';
import type * as overview from '../../../src/overview/overview.schema.ts';
import type * as search from '../../../src/search/search.schema.ts';
import type * as sources from '../../../src/sources/sources.schema.ts';
import type * as whitelist from '../../../src/whitelist/whitelist.schema.ts';

type OperationsIn<Module> = Extract<Module[keyof Module], Operation>;

/** All operations of the server, from their schemas. */
type AppOperation =
  | OperationsIn<typeof accounts>
  | OperationsIn<typeof actors>
  | OperationsIn<typeof audit>
  | OperationsIn<typeof campaigns>
  | OperationsIn<typeof catalogues>
  | OperationsIn<typeof confidence>
  | OperationsIn<typeof enrichments>
  | OperationsIn<typeof feeds>
  | OperationsIn<typeof imports>
  | OperationsIn<typeof indicators>
  | OperationsIn<typeof keys>
  | OperationsIn<typeof lookup>
  | OperationsIn<typeof overview>
  | OperationsIn<typeof reports>
  | OperationsIn<typeof search>
  | OperationsIn<typeof sources>
  | OperationsIn<typeof whitelist>;

export type OperationKey = AppOperation['key'];
type OperationOf<K extends OperationKey> = Extract<AppOperation, { key: K }>;

/** The type of a value in JSON, in which dates are strings. */
type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Name in keyof T]: Wire<T[Name]> }
      : T;

export type ApiResponse<K extends OperationKey> = Wire<Static<OperationOf<K>['answer']>>;
/** An element of a list response. */
export type ApiItem<K extends OperationKey> = ApiResponse<K> extends { data: (infer T)[] } ? T : never;
export type ApiBody<K extends OperationKey> = Static<OperationOf<K>['body']>;
/** Parameters are optional because the server has defaults. */
export type ApiQueryParams<K extends OperationKey> = Partial<Static<OperationOf<K>['query']>>;

type PathParameter<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParameter<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export interface ApiRequest<K extends OperationKey> {
  params?: Record<PathParameter<K>, string>;
  query?: ApiQueryParams<K>;
  body?: ApiBody<K>;
  /** Sent unchanged instead of a JSON body. */
  file?: Blob;
}
