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
      <Warning>It is shown this once: Tipline keeps no copy of it.</Warning>
      <Code block className="value" data-testid="new-key">
        {apiKey}
      </Code>
      <Group>
        <CopyText value={apiKey}>Copy the key</CopyText>
      </Group>
      <Text size="sm">Try it:</Text>
      <Code block className="value" style={{ whiteSpace: 'pre-wrap' }}>
        {curl}
      </Code>
      <Group justify="space-between">
        <CopyText value={curl}>Copy the curl line</CopyText>
        <Button onClick={onDone}>I have it</Button>
      </Group>
      <Alert variant="light">
        A key belongs into a secret store or an environment variable, not into a script.
      </Alert>
    </Stack>
  );
}
