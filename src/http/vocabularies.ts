import {
  CAMPAIGN_STATUSES,
  INDICATOR_TYPES,
  MOTIVATIONS,
  SEVERITIES,
  SOPHISTICATIONS,
  TLPS,
  VERDICTS,
} from '../model/vocabulary.ts';
import { namedEnum } from './schema.ts';

// The closed vocabularies of the model as fields and parameters of the API.

export const indicatorType = namedEnum(
  'IndicatorType',
  INDICATOR_TYPES,
  'Kind of observable: an address, domain or URL, the hash of a file (MD5, SHA1, SHA256), an e-mail address, a ' +
    'vulnerability (CVE), a Bitcoin address, a Windows registry key, a mutex, a file name, an HTTP user agent, or an ' +
    'autonomous system (ASN).',
);
export const severity = namedEnum(
  'Severity',
  SEVERITIES,
  'How much harm the indicator stands for, from INFO to CRITICAL.',
);
export const tlp = namedEnum(
  'Tlp',
  TLPS,
  'Sharing marking of TLP 2.0 (FIRST), from the widest to the narrowest audience. AMBER_STRICT is TLP:AMBER+STRICT.',
);
export const verdict = namedEnum(
  'Verdict',
  VERDICTS,
  'Judgement by score: MALICIOUS from 70, SUSPICIOUS from 30, BENIGN below, UNKNOWN without a score.',
);
export const motivation = namedEnum('Motivation', MOTIVATIONS, 'Why the threat actor acts.');
export const sophistication = namedEnum(
  'Sophistication',
  SOPHISTICATIONS,
  'How capable the threat actor is, from MINIMAL to STRATEGIC.',
);
export const campaignStatus = namedEnum('CampaignStatus', CAMPAIGN_STATUSES, 'State of a campaign.');

export const VOCABULARIES = [
  indicatorType,
  severity,
  tlp,
  verdict,
  motivation,
  sophistication,
  campaignStatus,
].map(({ schema }) => schema);
