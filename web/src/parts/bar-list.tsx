import { Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatNumber } from './format.ts';

export interface Bar {
  label: ReactNode;
  name: string;
  count: number;
  color?: string;
}

/** A bar chart that is a list, so that screen readers can read it. */
export function BarList({ bars }: { bars: Bar[] }) {
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
      {bars.map(({ label, name, count, color }) => (
        <li key={name}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Text size="sm" span miw={0}>
              {label}
            </Text>
            <Text size="sm" span ff="monospace">
              {formatNumber(count)}
            </Text>
          </Group>
          <Progress value={(count / highest) * 100} color={color} size="sm" aria-hidden />
        </li>
      ))}
    </Stack>
  );
}
