import { Select, type SelectProps } from '@mantine/core';

interface FilterSelectProps extends Omit<SelectProps, 'value' | 'onChange'> {
  value: string | undefined;
  onChange(value: string | undefined): void;
}

/** A choice of the value of a filter; without one the filter is off. */
export function FilterSelect({ value, onChange, ...select }: FilterSelectProps) {
  return (
    <Select
      placeholder="Any"
      value={value ?? null}
      onChange={(choice) => onChange(choice ?? undefined)}
      clearable
      {...select}
    />
  );
}
