import { Alert, Button, Code, Group, Modal, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import { useApiMutation } from '../../../client/queries.ts';
import { CopyButton } from '../../../parts/copy-buttons.tsx';
import { Form, FormError } from '../../../parts/form.tsx';
import { SecondLine } from '../../../parts/text.tsx';
import { Time } from '../../../parts/time.tsx';
import type { Feed } from './feeds.tsx';

const DEFAULT_SECONDS = 60;

/** The state of the webhook of a feed, in the list of feeds. */
export function WebhookState({ webhook }: Pick<Feed, 'webhook'>) {
  if (webhook === null) return null;
  const { host, lastSuccessAt, failures, lastError, gone, nextAttemptAt } = webhook;
  return (
    <SecondLine>
      Webhook to {visibleText(host)}, {lastSuccessAt ? 'last delivered ' : 'nothing delivered yet'}
      {lastSuccessAt && <Time at={lastSuccessAt} />}
      {failures > 0 && (
        <Text span inherit c="red.9">
          {' '}
          · {failures} failed attempts: {visibleText(lastError ?? '')};{' '}
          {gone ? (
            'no more attempts'
          ) : (
            <>
              next <Time at={nextAttemptAt} />
            </>
          )}
        </Text>
      )}
    </SecondLine>
  );
}

const useSetWebhook = () => useApiMutation('POST /app/feeds/:slug/webhook', () => 'Webhook set.');

/** Sets, retries or removes the webhook of a feed. Only its own button closes it while it shows or awaits the signing key. */
export function WebhookModal({ feed, onClose }: { feed: Feed | null; onClose(): void }) {
  const set = useSetWebhook();
  const isClosable = !set.isPending && !set.isSuccess;
  const close = () => {
    set.reset();
    onClose();
  };
  return (
    <Modal
      opened={feed !== null}
      onClose={close}
      title={`Webhook of ${feed?.slug ?? ''}`}
      size="lg"
      closeOnClickOutside={isClosable}
      closeOnEscape={isClosable}
      withCloseButton={isClosable}
    >
      {feed && <WebhookForm feed={feed} set={set} onClose={close} />}
    </Modal>
  );
}

interface WebhookFormProps {
  feed: Feed;
  set: ReturnType<typeof useSetWebhook>;
  onClose(): void;
}

function WebhookForm({ feed: { slug, webhook }, set, onClose }: WebhookFormProps) {
  const [url, setUrl] = useState('');
  const [seconds, setSeconds] = useState<number | string>(webhook?.intervalSeconds ?? DEFAULT_SECONDS);
  const retry = useApiMutation('POST /app/feeds/:slug/webhook/retry', () => {
    onClose();
    return 'The worker tries again now.';
  });
  const remove = useApiMutation('POST /app/feeds/:slug/webhook/remove', () => {
    onClose();
    return 'Webhook removed.';
  });
  const key = set.data?.data.secret;
  const params = { slug };
  if (key !== undefined)
    return (
      <Stack>
        <Alert color="yellow" variant="light">
          Shown only once. The receiver verifies messages with this key.
        </Alert>
        <Code block className="value" style={{ whiteSpace: 'pre-wrap' }}>
          {key}
        </Code>
        <Group justify="space-between">
          <CopyButton value={key}>Copy signing key</CopyButton>
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    );
  return (
    <Form
      onSubmit={() => set.mutate({ params, body: { url: url.trim(), intervalSeconds: Number(seconds) } })}
    >
      <FormError error={set.error ?? retry.error ?? remove.error} />
      <Text size="sm">
        A signed message is posted to a URL when the feed changes: the ids of the indicators, and the cursor
        of the changes.
      </Text>
      <WebhookState webhook={webhook} />
      <TextInput
        label="URL"
        description={webhook ? 'Replaces the present one, and its signing key' : 'http or https'}
        required
        maxLength={2048}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        data-autofocus
      />
      <NumberInput
        label="Interval"
        description="Seconds in which there is at most one message"
        min={5}
        max={86_400}
        value={seconds}
        onChange={setSeconds}
      />
      <Group justify="flex-end">
        {webhook && (
          <>
            <Button variant="default" loading={remove.isPending} onClick={() => remove.mutate({ params })}>
              Remove webhook
            </Button>
            <Button variant="default" loading={retry.isPending} onClick={() => retry.mutate({ params })}>
              Try again now
            </Button>
          </>
        )}
        <Button type="submit" disabled={url.trim() === ''} loading={set.isPending}>
          {webhook ? 'Replace' : 'Set webhook'}
        </Button>
      </Group>
    </Form>
  );
}
