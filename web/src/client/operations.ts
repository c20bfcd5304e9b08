import type { Static } from 'typebox';
import type * as accounts from '../../../src/accounts/accounts.schema.ts';
import type * as keys from '../../../src/api-keys/api-keys.schema.ts';
import type * as audit from '../../../src/audit/audit.schema.ts';
import type * as catalogues from '../../../src/catalogues/catalogues.schema.ts';
import type * as enrichments from '../../../src/enrichment/enrichments.schema.ts';
import type * as actors from '../../../src/entities/actors/actors.app.schema.ts';
import type * as campaigns from '../../../src/entities/campaigns/campaigns.app.schema.ts';
import type * as reports from '../../../src/entities/reports/reports.schema.ts';
import type { Operation } from '../../../src/http/operation.ts';
import type * as imports from '../../../src/imports/imports.schema.ts';
import type * as confidence from '../../../src/indicators/confidence/confidence.schema.ts';
import type * as indicators from '../../../src/indicators/indicators.app.schema.ts';
import type * as overview from '../../../src/overview/overview.schema.ts';
import type * as search from '../../../src/search/search.schema.ts';
import type * as sources from '../../../src/sources/sources.schema.ts';
import type * as whitelist from '../../../src/whitelist/whitelist.schema.ts';

type In<Module> = Extract<Module[keyof Module], Operation>;

/** Every operation of the server, as its schema says. */
type Known =
  | In<typeof accounts>
  | In<typeof actors>
  | In<typeof audit>
  | In<typeof campaigns>
  | In<typeof catalogues>
  | In<typeof confidence>
  | In<typeof enrichments>
  | In<typeof imports>
  | In<typeof indicators>
  | In<typeof keys>
  | In<typeof overview>
  | In<typeof reports>
  | In<typeof search>
  | In<typeof sources>
  | In<typeof whitelist>;

export type Key = Known['key'];
type Of<K extends Key> = Extract<Known, { key: K }>;

/** As it comes over the wire: instants are text. */
type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Name in keyof T]: Wire<T[Name]> }
      : T;

export type Answer<K extends Key> = Wire<Static<Of<K>['answer']>>;
/** What a page shows one of. */
export type Item<K extends Key> = Answer<K> extends { data: (infer T)[] } ? T : never;
export type Body<K extends Key> = Static<Of<K>['body']>;
/** What has a default may be left out. */
export type Query<K extends Key> = Partial<Static<Of<K>['query']>>;

type ParameterOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export interface Given<K extends Key> {
  params?: Record<ParameterOf<K>, string>;
  query?: Query<K>;
  body?: Body<K>;
  /** Sent as it is, in place of a body. */
  file?: Blob;
}
