import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import type { Scope } from '../../../../src/model/scopes.ts';
import { Warning } from '../../parts/confirm.tsx';
import { CopyText } from '../../parts/copy.tsx';

const EXAMPLES: [Scope, string][] = [
  ['indicators:read', '/api/v1/indicators?pageSize=3'],
  ['actors:read', '/api/v1/actors?pageSize=3'],
  ['campaigns:read', '/api/v1/campaigns?pageSize=3'],
];

interface Props {
  apiKey: string;
  scopes: Scope[];
  onDone(): void;
}

/** The key, this once, and the first request with it. */
export function ShownKey({ apiKey, scopes, onDone }: Props) {
  const [, path] = EXAMPLES.find(([scope]) => scopes.length === 0 || scopes.includes(scope)) ?? [
    '',
    '/api/v1/indicators',
  ];
  const curl = `curl -sH "Authorization: Bearer ${apiKey}" "${window.location.origin}${path}"`;
  return (
    <Stack>
      <Warning>Shown only once. Tipline stores only a hash.</Warning>
      <Code block className="value" data-testid="new-key">
        {apiKey}
      </Code>
      <Group>
        <CopyText value={apiKey}>Copy key</CopyText>
      </Group>
      <Text size="sm">Try it:</Text>
      <Code block className="value" style={{ whiteSpace: 'pre-wrap' }}>
        {curl}
      </Code>
      <Group justify="space-between">
        <CopyText value={curl}>Copy curl command</CopyText>
        <Button onClick={onDone}>Done</Button>
      </Group>
      <Alert variant="light">Store keys in a secret manager, not in scripts.</Alert>
    </Stack>
  );
}
