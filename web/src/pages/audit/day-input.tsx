import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';

/** A date field that reports complete dates only. */
export function DayInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange(day?: string): void;
}) {
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  return (
    <TextInput
      type="date"
      label={label}
      value={text}
      onChange={(event) => {
        const day = event.currentTarget.value;
        setText(day);
        // While a year is typed, its first digits are valid dates, too.
        if (day === '' || day >= '1900') onChange(day || undefined);
      }}
    />
  );
}
