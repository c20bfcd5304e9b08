import { Alert, Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { type ReactNode, useState } from 'react';

interface ReasonModalProps {
  title: string;
  opened: boolean;
  onClose(): void;
  /** What the button says. */
  action: string;
  color?: string;
  /** Shown above the reason. */
  children?: ReactNode;
  /** No reason is asked for. */
  withoutReason?: boolean;
  busy: boolean;
  onConfirm(reason: string): void;
}

/** Asks once more, and why. What was typed goes when it is closed. */
export function ReasonModal({ title, opened, onClose, ...form }: ReasonModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <ReasonForm onClose={onClose} {...form} />
    </Modal>
  );
}

function ReasonForm(props: Omit<ReasonModalProps, 'title' | 'opened'>) {
  const { onClose, action, color, children, withoutReason, busy, onConfirm } = props;
  const [reason, setReason] = useState('');
  const ready = withoutReason || reason.trim() !== '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) onConfirm(reason.trim());
      }}
    >
      <Stack>
        {children}
        {!withoutReason && (
          <Textarea
            label="Reason"
            description="Recorded in the audit log."
            required
            autosize
            minRows={2}
            maxLength={1000}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" {...(color && { color })} disabled={!ready} loading={busy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function Warning({ children }: { children: ReactNode }) {
  return (
    <Alert color="yellow" variant="light">
      {children}
    </Alert>
  );
}
