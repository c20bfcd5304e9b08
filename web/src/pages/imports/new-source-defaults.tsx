import { Group, NumberInput, Select, Text } from '@mantine/core';
import { SEVERITIES, type Tlp } from '../../../../src/model/vocabulary.ts';
import { sentenceCase, tlpName, toOptions } from '../../parts/format.ts';
import type { Fields } from '../../parts/use-fields.ts';
import type { ImportFields } from './use-start-import.ts';

/** The TLP, confidence and severity of records of a new source that state none. */
export function NewSourceDefaults({
  choice,
  tlps,
}: Pick<Fields<ImportFields>, 'choice'> & { tlps: readonly Tlp[] }) {
  return (
    <Group align="flex-end" gap="sm">
      <Text size="sm" w="100%">
        Defaults for this new source:
      </Text>
      <Select label="TLP" data={toOptions(tlps, tlpName)} {...choice('tlp')} allowDeselect={false} w={160} />
      <NumberInput
        label="Confidence"
        required
        allowDecimal={false}
        min={0}
        max={100}
        clampBehavior="strict"
        {...choice('confidence')}
        w={120}
      />
      <Select
        label="Severity"
        data={toOptions(SEVERITIES, sentenceCase)}
        {...choice('severity')}
        allowDeselect={false}
        w={130}
      />
    </Group>
  );
}
