import { Select, TextInput } from '@mantine/core';
import { INDICATOR_TYPES, type IndicatorType } from '../../../../src/model/vocabulary.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { plural, toOptions, typeName } from '../../parts/format.ts';
import { useFields } from '../../parts/use-fields.ts';

export function AddEntryButton() {
  const { values, reset, text, choice } = useFields<{ entry: string; type: IndicatorType | null }>({
    entry: '',
    type: null,
  });
  return (
    <ConfirmButton
      button={{ variant: 'filled', children: 'Add entry', onClick: reset }}
      title="Add whitelist entry"
      action="Add"
      operation="POST /app/whitelist"
      request={(reason) => ({
        body: { entry: values.entry, reason, ...(values.type && { type: values.type }) },
      })}
      onSuccess={({ changed }) => `Entry added. ${plural(changed, 'indicator')} hidden.`}
    >
      <TextInput
        label="Entry"
        description="An address, network (198.51.100.0/24), domain (includes subdomains) or value."
        required
        {...text('entry')}
      />
      <Select
        label="Type"
        description="Leave empty to detect"
        placeholder="Auto-detect"
        data={toOptions(INDICATOR_TYPES, typeName)}
        {...choice('type')}
        clearable
      />
    </ConfirmButton>
  );
}
