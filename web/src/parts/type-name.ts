import type { IndicatorType } from '../../../src/model/vocabulary.ts';

const NAMES: Partial<Record<IndicatorType, string>> = {
  IPV4: 'IPv4',
  IPV6: 'IPv6',
  BTC_ADDRESS: 'Bitcoin address',
  REGISTRY_KEY: 'Registry key',
  USER_AGENT: 'User agent',
  DOMAIN: 'Domain',
  EMAIL: 'E-mail',
  MUTEX: 'Mutex',
  FILENAME: 'File name',
};

/** As people write it. */
export const typeName = (type: IndicatorType): string => NAMES[type] ?? type;
