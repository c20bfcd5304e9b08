import { Badge } from '@mantine/core';
import type { CampaignStatus } from '../../../src/model/vocabulary.ts';
import { readable } from './words.tsx';

const COLORS: Record<CampaignStatus, string> = {
  ACTIVE: 'red.9',
  DORMANT: '#c2410c',
  CONCLUDED: 'gray.7',
  SUSPECTED: 'blue.8',
};

export function StatusBadge({ status }: { status: CampaignStatus }) {
  return (
    <Badge color={COLORS[status]} size="sm">
      {readable(status)}
    </Badge>
  );
}
