import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { INDICATOR_TYPES, type IndicatorType } from '../../../../src/model/vocabulary.ts';
import { useApiMutation } from '../../client/queries.ts';
import { ConfirmModal } from '../../parts/confirm-modal.tsx';
import { plural, typeName } from '../../parts/format.ts';

export function AddEntryModal({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const [entry, setEntry] = useState('');
  const [type, setType] = useState<IndicatorType | null>(null);
  const add = useApiMutation('POST /app/whitelist', ({ changed }) => {
    setEntry('');
    onClose();
    return `Entry added. ${plural(changed, 'indicator')} hidden.`;
  });
  return (
    <ConfirmModal
      title="Add whitelist entry"
      action="Add"
      opened={opened}
      onClose={onClose}
      busy={add.isPending}
      onConfirm={(reason) => add.mutate({ body: { entry, reason, ...(type && { type }) } })}
    >
      <TextInput
        label="Entry"
        description="An address, network (198.51.100.0/24), domain (includes subdomains) or value."
        required
        value={entry}
        onChange={(event) => setEntry(event.currentTarget.value)}
      />
      <Select
        label="Type"
        description="Leave empty to detect"
        placeholder="Auto-detect"
        data={INDICATOR_TYPES.map((value) => ({ value, label: typeName(value) }))}
        value={type}
        onChange={(value) => setType(value as IndicatorType | null)}
        clearable
      />
    </ConfirmModal>
  );
}
