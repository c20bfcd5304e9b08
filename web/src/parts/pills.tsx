import { Group, Pill, Text } from '@mantine/core';
import { visibleText } from './words.tsx';

interface FilterPillsProps {
  /** Of each filter what it lets through. */
  filters: { name: string; text: string }[];
  onRemove(name: string): void;
}

/** Filters that no box shows; each can be taken away. */
export function FilterPills({ filters, onRemove }: FilterPillsProps) {
  if (filters.length === 0) return null;
  return (
    <Group gap="xs">
      <Text size="sm">Filters:</Text>
      {filters.map(({ name, text }) => (
        <Pill
          key={name}
          withRemoveButton
          onRemove={() => onRemove(name)}
          removeButtonProps={{ 'aria-label': `Remove filter: ${name}`, tabIndex: 0, 'aria-hidden': false }}
        >
          {visibleText(text)}
        </Pill>
      ))}
    </Group>
  );
}
