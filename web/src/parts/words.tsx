import { Badge, Text, Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import type { Severity, Tlp, Verdict } from '../../../src/model/vocabulary.ts';

const SEVERITY_COLORS: Record<Severity, string> = {
  CRITICAL: 'red.9',
  HIGH: '#c2410c',
  MEDIUM: 'yellow.4',
  LOW: 'blue.8',
  INFO: 'gray.7',
};

/** In charts, on the page's own ground. */
export const SEVERITY_BARS: Record<Severity, string> = { ...SEVERITY_COLORS, MEDIUM: 'yellow.6' };

export function SeverityBadge({ severity }: { severity: Severity }) {
  return (
    <Badge color={SEVERITY_COLORS[severity]} size="sm" radius="sm" miw="max-content">
      {severity}
    </Badge>
  );
}

/** The colours that FIRST gives for TLP 2.0 (https://www.first.org/tlp/), on black. */
const TLP_COLORS: Record<Tlp, string> = {
  CLEAR: '#ffffff',
  GREEN: '#33ff00',
  AMBER: '#ffc000',
  AMBER_STRICT: '#ffc000',
  RED: '#ff2b2b',
};

export const tlpName = (tlp: Tlp) => `TLP:${tlp.replace('_', '+')}`;

export function TlpBadge({ tlp }: { tlp: Tlp }) {
  return (
    <Badge
      size="sm"
      radius="sm"
      miw="max-content"
      styles={{ root: { backgroundColor: '#000', border: 0 }, label: { color: TLP_COLORS[tlp] } }}
    >
      {tlpName(tlp)}
    </Badge>
  );
}

const VERDICT_COLORS: Record<Verdict, string> = {
  MALICIOUS: 'red.9',
  SUSPICIOUS: '#c2410c',
  BENIGN: '#1f6f34',
  UNKNOWN: 'gray.7',
};

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return (
    <Badge color={VERDICT_COLORS[verdict]} size="sm" radius="sm">
      {verdict}
    </Badge>
  );
}

/** One word of a vocabulary, as a person writes it. */
export function readable(word: string): string {
  const text = word.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** As "3 days ago", "in 2 hours". */
export function relative(instant: string, now = Date.now()): string {
  const seconds = (new Date(instant).getTime() - now) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return RELATIVE.format(Math.round(seconds / size), unit);
}

export function fullTime(instant: string): string {
  const at = new Date(instant);
  return Number.isNaN(at.getTime()) ? instant : `${FULL.format(at)} UTC`;
}

const TICK_MS = 30_000;

function onTick(tell: () => void): () => void {
  const timer = setInterval(tell, TICK_MS);
  return () => clearInterval(timer);
}

/** An instant: how long ago, which goes with the time, and on demand exactly when. */
export function Time({ at, never = 'never' }: { at: string | null | undefined; never?: string }) {
  useSyncExternalStore(onTick, () => Math.floor(Date.now() / TICK_MS));
  if (!at)
    return (
      <Text span inherit c="dimmed">
        {never}
      </Text>
    );
  return (
    <Tooltip label={fullTime(at)}>
      <time dateTime={at} title={fullTime(at)} style={{ whiteSpace: 'nowrap' }}>
        {relative(at)}
      </time>
    </Tooltip>
  );
}

/** A day, of something that is not about the hour. */
export function Day({ at, never = '–' }: { at: string | null | undefined; never?: string }) {
  if (!at) return <>{never}</>;
  return (
    <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
      {DAY.format(new Date(at))}
    </time>
  );
}

const NUMBER = new Intl.NumberFormat('en');
export const number = (value: number) => NUMBER.format(value);
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${number(count)} ${count === 1 ? one : many}`;

export function bytes(size: number): string {
  const [unit, length] = size >= 1_048_576 ? ['MB', 1_048_576] : size >= 1024 ? ['kB', 1024] : ['bytes', 1];
  return `${NUMBER.format(Math.round((size / Number(length)) * 10) / 10)} ${unit}`;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** Somebody else's text, on one line: what cannot be seen, or turns the direction, is shown as what it is. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Longer text of others: line ends stay. */
export function visibleLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => visibleText(line.replaceAll('\t', '  ')))
    .join('\n');
}
