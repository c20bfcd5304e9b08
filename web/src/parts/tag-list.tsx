import { Group } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';
import { BadgeLink } from './links.tsx';
import { SecondLine } from './text.tsx';

/** Tags, each linked to the indicators that have it. */
export function TagList({ tags, max = Number.POSITIVE_INFINITY }: { tags: string[]; max?: number }) {
  const shown = tags.slice(0, max);
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
        <SecondLine title={tags.slice(max).map(visibleText).join(', ')}>
          +{tags.length - shown.length}
        </SecondLine>
      )}
    </Group>
  );
}
