import { Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { formatTime, relativeTime } from './format.ts';
import { Dimmed } from './text.tsx';

const TICK_MS = 30_000;

function subscribeToTick(notify: () => void): () => void {
  const timer = setInterval(notify, TICK_MS);
  return () => clearInterval(timer);
}

/** A relative time that stays up to date, with the full time as a tooltip. */
export function Time({ at, fallback = 'never' }: { at: string | null | undefined; fallback?: string }) {
  useSyncExternalStore(subscribeToTick, () => Math.floor(Date.now() / TICK_MS));
  if (!at) return <Dimmed>{fallback}</Dimmed>;
  return (
    <Tooltip label={formatTime(at)}>
      <time dateTime={at} title={formatTime(at)} style={{ whiteSpace: 'nowrap' }}>
        {relativeTime(at)}
      </time>
    </Tooltip>
  );
}

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** A date without the time of day. */
export function Day({ at, fallback = '–' }: { at: string | null | undefined; fallback?: string }) {
  if (!at) return <>{fallback}</>;
  return (
    <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
      {DATE.format(new Date(at))}
    </time>
  );
}
