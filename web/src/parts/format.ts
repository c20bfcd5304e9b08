import type { IndicatorType, Tlp } from '../../../src/model/vocabulary.ts';

/** Converts a vocabulary word to sentence case: `REGISTRY_KEY` becomes `Registry key`. */
export function sentenceCase(word: string): string {
  const text = word.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const TYPE_NAMES: Partial<Record<IndicatorType, string>> = {
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

/** Returns the display name of an indicator type. */
export const typeName = (type: IndicatorType): string => TYPE_NAMES[type] ?? type;

/** Returns the label of a TLP level, e.g. `TLP:AMBER+STRICT`. */
export const tlpName = (tlp: Tlp) => `TLP:${tlp.replace('_', '+')}`;

const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});

// Not `auto`: "yesterday" and "last month" are of the calendar, and what is formatted is a span of time.
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Formats an instant relative to now: "3 days ago", "in 2 hours". */
export function relativeTime(instant: string, now = Date.now()): string {
  const seconds = (new Date(instant).getTime() - now) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  const count = Math.round(seconds / size);
  return count === 0 ? 'now' : RELATIVE.format(count, unit);
}

/** Formats an instant as date and time in UTC. */
export function formatTime(instant: string): string {
  const at = new Date(instant);
  return Number.isNaN(at.getTime()) ? instant : `${DATE_AND_TIME.format(at)} UTC`;
}

const NUMBER = new Intl.NumberFormat('en');

export const formatNumber = (value: number) => NUMBER.format(value);

export const plural = (count: number, singular: string, pluralForm = `${singular}s`) =>
  `${formatNumber(count)} ${count === 1 ? singular : pluralForm}`;

export function formatBytes(size: number): string {
  const [unit, length] = size >= 1_048_576 ? ['MB', 1_048_576] : size >= 1024 ? ['kB', 1024] : ['bytes', 1];
  return `${NUMBER.format(Math.round((size / Number(length)) * 10) / 10)} ${unit}`;
}

/** Returns the options of a select, labelled by a function. */
export const toOptions = <T extends string>(values: readonly T[], label: (value: T) => string) =>
  values.map((value) => ({ value, label: label(value) }));
