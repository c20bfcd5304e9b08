import { abuseipdb } from './abuseipdb.ts';
import { greynoise } from './greynoise.ts';
import { maltrail } from './maltrail.ts';
import { otx } from './otx.ts';
import type { Provider, QueryableProvider } from './provider.ts';
import { shodan } from './shodan.ts';
import { tweetfeedMeta } from './tweetfeed-meta.ts';
import { urlhaus } from './urlhaus.ts';
import { virustotal } from './virustotal.ts';

/** Providers with an API, each queried with a key of the operator's. */
export const QUERYABLE_PROVIDERS: readonly QueryableProvider[] = [
  virustotal,
  abuseipdb,
  otx,
  greynoise,
  shodan,
  urlhaus,
];

/** All providers whose responses can be assessed. */
export const PROVIDERS: readonly Provider[] = [...QUERYABLE_PROVIDERS, tweetfeedMeta, maltrail];
