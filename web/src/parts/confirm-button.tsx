import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ComponentProps } from 'react';
import type { ApiRequest, ApiResponse, OperationKey } from '../client/operations.ts';
import { useApiMutation } from '../client/queries.ts';
import { ConfirmModal, type ConfirmModalProps } from './confirm-modal.tsx';
import { FormError } from './form.tsx';

type DialogProps = Omit<ConfirmModalProps, 'opened' | 'onClose' | 'busy' | 'onConfirm'>;

interface ConfirmButtonProps<K extends OperationKey> extends DialogProps {
  /** The props of the button that opens the dialog. */
  button: ComponentProps<typeof Button<'button'>>;
  operation: K;
  request(reason: string): ApiRequest<K>;
  /** Returns the text of a success notification. */
  onSuccess(response: ApiResponse<K>): string;
}

/** A button that calls an operation after a dialog has confirmed it. */
export function ConfirmButton<K extends OperationKey>(props: ConfirmButtonProps<K>) {
  const { button, operation, request, onSuccess, children, ...dialog } = props;
  const [opened, { open, close }] = useDisclosure(false);
  const call = useApiMutation(operation, (response) => {
    close();
    return onSuccess(response);
  });
  return (
    <>
      <Button
        variant="default"
        {...button}
        onClick={(event) => {
          button.onClick?.(event);
          call.reset();
          open();
        }}
      />
      <ConfirmModal
        {...dialog}
        opened={opened}
        onClose={close}
        busy={call.isPending}
        onConfirm={(reason) => call.mutate(request(reason))}
      >
        <FormError error={call.error} />
        {children}
      </ConfirmModal>
    </>
  );
}
