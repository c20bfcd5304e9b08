import { Badge } from '@mantine/core';
import type { ApiItem } from '../client/operations.ts';

type Run = ApiItem<'GET /app/imports'>;

const STATES: Record<Run['state'], [string, string]> = {
  running: ['blue.8', 'Running'],
  done: ['#1f6f34', 'Done'],
  failed: ['red.9', 'Failed'],
  stopped: ['#c2410c', 'Stopped'],
};

const UNDO_STATES = {
  running: ['blue.8', 'Being undone'],
  done: ['gray.7', 'Undone'],
} as const;

export function ImportStateBadge({ run: { state, undo } }: { run: Run }) {
  const [color, text] = undo === null ? STATES[state] : UNDO_STATES[undo];
  return <Badge color={color}>{text}</Badge>;
}
