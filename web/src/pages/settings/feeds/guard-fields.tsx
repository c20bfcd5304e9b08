import { Group, NumberInput } from '@mantine/core';

/** The bounds of a feed, as inputs have them; empty: none. */
export interface GuardValues {
  minEntries: number | '';
  minShare: number | '';
}

interface GuardFieldsProps {
  values: GuardValues;
  set(change: Partial<GuardValues>): void;
}

/** The inputs of the bounds of a feed. */
export function GuardFields({ values: { minEntries, minShare }, set }: GuardFieldsProps) {
  const whole = { allowDecimal: false, allowNegative: false, min: 1, placeholder: 'None' };
  return (
    <Group grow align="flex-start">
      <NumberInput
        label="Minimum entries"
        description="Sources do not delist if fewer would remain"
        {...whole}
        max={1_000_000_000}
        value={minEntries}
        onChange={(value) => set({ minEntries: Number(value) || '' })}
      />
      <NumberInput
        label="Minimum share"
        description="In percent of the entries of the day before"
        {...whole}
        max={100}
        value={minShare}
        onChange={(value) => set({ minShare: Number(value) || '' })}
      />
    </Group>
  );
}
