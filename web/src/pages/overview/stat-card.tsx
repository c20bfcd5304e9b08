import { Paper, Text } from '@mantine/core';
import { formatNumber } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';

interface StatCardProps {
  name: string;
  value: number;
  to: '/indicators' | '/actors' | '/campaigns';
  search?: Record<string, string>;
}

/** A number with its name, linked to the list that it counts. */
export function StatCard({ name, value, to, search }: StatCardProps) {
  return (
    <Paper withBorder p="md">
      <Text size="sm" c="dimmed">
        <PageLink to={to} {...(search && { search })} inherit>
          {name}
        </PageLink>
      </Text>
      <Text fz={26} fw={700}>
        {formatNumber(value)}
      </Text>
    </Paper>
  );
}
