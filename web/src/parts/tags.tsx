import { Group, Text } from '@mantine/core';
import { BadgeLink } from './links.tsx';
import { visibleText } from './words.tsx';

/** Each leads to all that have it. */
export function TagList({ tags, most = Number.POSITIVE_INFINITY }: { tags: string[]; most?: number }) {
  const shown = tags.slice(0, most);
  return (
    <Group gap={4}>
      {shown.map((tag) => (
        <BadgeLink
          key={tag}
          to="/indicators"
          search={{ tag }}
          variant="default"
          size="sm"
          radius="sm"
          tt="none"
          miw={0}
          maw={200}
          style={{ cursor: 'pointer' }}
        >
          {visibleText(tag)}
        </BadgeLink>
      ))}
      {tags.length > shown.length && (
        <Text size="xs" c="dimmed" title={tags.slice(most).map(visibleText).join(', ')}>
          +{tags.length - shown.length}
        </Text>
      )}
    </Group>
  );
}
