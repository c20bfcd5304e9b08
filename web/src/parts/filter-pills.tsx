import { Group, Pill, Text } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';

interface FilterPillsProps {
  /** `text` describes which objects pass the filter. */
  filters: { name: string; text: string }[];
  onRemove(name: string): void;
}

/** Active filters that have no input of their own, each with a button that removes it. */
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
