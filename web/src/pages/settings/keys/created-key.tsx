import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import type { Scope } from '../../../../../src/model/account.ts';
import { CopyButton } from '../../../parts/copy-buttons.tsx';

const EXAMPLES: [Scope, string][] = [
  ['indicators:read', '/api/v1/indicators?pageSize=3'],
  ['actors:read', '/api/v1/actors?pageSize=3'],
  ['campaigns:read', '/api/v1/campaigns?pageSize=3'],
  ['feeds:read', '/api/v1/feeds'],
];

interface CreatedKeyProps {
  apiKey: string;
  scopes: Scope[];
  /** The slugs of the feeds to which it is bound. */
  feeds: string[];
  onDone(): void;
}

/** A new API key, which is shown only this once, with an example request. */
export function CreatedKey({ apiKey, scopes, feeds, onDone }: CreatedKeyProps) {
  const path = examplePath(scopes, feeds);
  const curl = `curl -sH "Authorization: Bearer ${apiKey}" "${window.location.origin}${path}"`;
  return (
    <Stack>
      <Alert color="yellow" variant="light">
        Shown only once. Tipline stores only a hash.
      </Alert>
      <Code block className="value" data-testid="new-key">
        {apiKey}
      </Code>
      <Group>
        <CopyButton value={apiKey}>Copy key</CopyButton>
      </Group>
      <Text size="sm">Try it:</Text>
      <Code block className="value" style={{ whiteSpace: 'pre-wrap' }}>
        {curl}
      </Code>
      <Group justify="space-between">
        <CopyButton value={curl}>Copy curl command</CopyButton>
        <Button onClick={onDone}>Done</Button>
      </Group>
      <Alert variant="light">Store keys in a secret manager, not in scripts.</Alert>
    </Stack>
  );
}

/** Returns a path that the key can read. */
function examplePath(scopes: Scope[], [feed]: string[]): string {
  if (feed !== undefined) return `/api/v1/feeds/${feed}`;
  const example = EXAMPLES.find(([scope]) => scopes.length === 0 || scopes.includes(scope));
  return example?.[1] ?? '/api/v1/indicators';
}
