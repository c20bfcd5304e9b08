import { abuseipdb } from './abuseipdb.ts';
import { greynoise } from './greynoise.ts';
import { maltrail } from './maltrail.ts';
import { otx } from './otx.ts';
import type { Provider } from './provider.ts';
import { shodan } from './shodan.ts';
import { tweetfeedMeta } from './tweetfeed-meta.ts';
import { urlhaus } from './urlhaus.ts';
import { virustotal } from './virustotal.ts';

/** Every provider whose answers are understood. */
export const PROVIDERS: readonly Provider[] = [
  virustotal,
  abuseipdb,
  otx,
  greynoise,
  shodan,
  urlhaus,
  tweetfeedMeta,
  maltrail,
];
