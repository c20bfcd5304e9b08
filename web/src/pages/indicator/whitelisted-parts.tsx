import IconEyeOff from 'icon:eye-off';
import { Alert, Spoiler, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';

/** The whitelisted addresses and networks within a network, or names below a domain. */
export function WhitelistedParts({ type, parts }: { type: string; parts: readonly string[] }) {
  if (parts.length === 0) return null;
  return (
    <Alert color="yellow" icon={<IconEyeOff />} title="Whitelisted in part">
      <Text size="sm" mb={4}>
        Lists and rules contain this {type === 'DOMAIN' ? 'domain' : 'network'} without:
      </Text>
      <Spoiler maxHeight={88} showLabel="All" hideLabel="Show fewer">
        {parts.map((part) => (
          <Text key={part} size="sm" className="value">
            {visibleText(part)}
          </Text>
        ))}
      </Spoiler>
    </Alert>
  );
}
