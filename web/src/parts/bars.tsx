import { Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { number } from './words.tsx';

interface Bar {
  label: ReactNode;
  name: string;
  count: number;
  color?: string;
}

/** A bar chart that is a list, for those who read it by ear. */
export function Bars({ bars }: { bars: Bar[] }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
      {bars.map(({ label, name, count, color }) => (
        <li key={name}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Text size="sm" span miw={0}>
              {label}
            </Text>
            <Text size="sm" span ff="monospace">
              {number(count)}
            </Text>
          </Group>
          <Progress value={(count / most) * 100} {...(color && { color })} size="sm" aria-hidden />
        </li>
      ))}
    </Stack>
  );
}
