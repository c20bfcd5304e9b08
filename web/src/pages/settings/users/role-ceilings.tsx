import { Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import type { Role } from '../../../../../src/model/account.ts';
import { TLPS, type Tlp } from '../../../../../src/model/vocabulary.ts';
import { useApiMutation, useApiQuery } from '../../../client/queries.ts';
import { ConfirmModal } from '../../../parts/confirm-modal.tsx';
import { sentenceCase, tlpName, toOptions } from '../../../parts/format.ts';
import { QueryResult } from '../../../parts/query-result.tsx';
import { Section } from '../../../parts/section.tsx';

/** The TLP ceiling of each role, and its change. */
export function RoleCeilings() {
  const query = useApiQuery('GET /app/roles');
  const [pending, setPending] = useState<{ role: Role; tlpCeiling: Tlp } | null>(null);
  const change = useApiMutation('PATCH /app/roles/:role', () => {
    setPending(null);
    return 'Changed.';
  });
  return (
    <Section title="TLP ceiling by role">
      <QueryResult query={query}>
        {({ data }) => (
          <Group align="flex-end">
            {data.map(({ role, tlpCeiling }) => (
              <Select
                key={role}
                label={sentenceCase(role)}
                data={toOptions(TLPS, (tlp) => `Up to ${tlpName(tlp)}`)}
                value={tlpCeiling}
                onChange={(value) => value && value !== tlpCeiling && setPending({ role, tlpCeiling: value })}
                allowDeselect={false}
                w={260}
              />
            ))}
          </Group>
        )}
      </QueryResult>
      {pending && (
        <ConfirmModal
          title={`Let every ${pending.role} see up to ${tlpName(pending.tlpCeiling)}?`}
          action="Change"
          color="red.9"
          withoutReason
          opened
          onClose={() => setPending(null)}
          busy={change.isPending}
          onConfirm={() =>
            change.mutate({ params: { role: pending.role }, body: { tlpCeiling: pending.tlpCeiling } })
          }
        >
          <Text size="sm">Applies immediately, also to their API keys.</Text>
        </ConfirmModal>
      )}
    </Section>
  );
}
