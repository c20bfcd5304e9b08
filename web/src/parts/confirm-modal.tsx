import { Button, Group, Modal, Textarea } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Form } from './form.tsx';

export interface ConfirmModalProps {
  title: string;
  opened: boolean;
  onClose(): void;
  /** The label of the button that confirms. */
  action: string;
  color?: string;
  /** Shown above the reason. */
  children?: ReactNode;
  /** Omits the reason field. */
  withoutReason?: boolean;
  busy: boolean;
  onConfirm(reason: string): void;
}

/** A dialog that asks for confirmation and a reason. Closing it discards the reason; while it is busy, nothing closes it. */
export function ConfirmModal({ title, opened, onClose, ...form }: ConfirmModalProps) {
  return (
    <Modal opened={opened} onClose={() => form.busy || onClose()} title={title}>
      <ConfirmForm onClose={onClose} {...form} />
    </Modal>
  );
}

function ConfirmForm(props: Omit<ConfirmModalProps, 'title' | 'opened'>) {
  const { onClose, action, color, children, withoutReason, busy, onConfirm } = props;
  const [reason, setReason] = useState('');
  const isReady = withoutReason || reason.trim() !== '';
  return (
    <Form onSubmit={() => isReady && onConfirm(reason.trim())}>
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
        <Button variant="default" onClick={onClose} disabled={busy}>
          Cancel
        </Button>
        <Button type="submit" color={color} disabled={!isReady} loading={busy}>
          {action}
        </Button>
      </Group>
    </Form>
  );
}
