import { Group, NumberInput, Select, Text } from '@mantine/core';
import { SEVERITIES, type Severity, TLPS, type Tlp } from '../../../../src/model/vocabulary.ts';
import { sentenceCase, tlpName } from '../../parts/format.ts';

export interface SourceDefaults {
  tlp: Tlp;
  confidence: number | string;
  severity: Severity;
}

interface NewSourceDefaultsProps {
  defaults: SourceDefaults;
  onChange(defaults: SourceDefaults): void;
}

/** The TLP, confidence and severity of records of a new source that state none. */
export function NewSourceDefaults({ defaults, onChange }: NewSourceDefaultsProps) {
  return (
    <Group align="flex-end" gap="sm">
      <Text size="sm" w="100%">
        Defaults for this new source:
      </Text>
      <Select
        label="TLP"
        data={TLPS.map((value) => ({ value, label: tlpName(value) }))}
        value={defaults.tlp}
        onChange={(value) => onChange({ ...defaults, tlp: (value ?? 'AMBER') as Tlp })}
        allowDeselect={false}
        w={160}
      />
      <NumberInput
        label="Confidence"
        required
        allowDecimal={false}
        min={0}
        max={100}
        clampBehavior="strict"
        value={defaults.confidence}
        onChange={(confidence) => onChange({ ...defaults, confidence })}
        w={120}
      />
      <Select
        label="Severity"
        data={SEVERITIES.map((value) => ({ value, label: sentenceCase(value) }))}
        value={defaults.severity}
        onChange={(value) => onChange({ ...defaults, severity: (value ?? 'MEDIUM') as Severity })}
        allowDeselect={false}
        w={130}
      />
    </Group>
  );
}
