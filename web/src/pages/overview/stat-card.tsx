import { Paper, Text } from '@mantine/core';
import { formatNumber } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Note } from '../../parts/text.tsx';

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
      <Note>
        <PageLink to={to} {...(search && { search })} inherit>
          {name}
        </PageLink>
      </Note>
      <Text fz={26} fw={700}>
        {formatNumber(value)}
      </Text>
    </Paper>
  );
}
