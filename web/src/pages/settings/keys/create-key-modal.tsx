import { Modal } from '@mantine/core';
import { CreateKeyForm, type CreateKeyFormProps } from './create-key-form.tsx';

interface CreateKeyModalProps extends CreateKeyFormProps {
  opened: boolean;
}

/** A dialog that creates an API key. */
export function CreateKeyModal({ opened, onClose, onCreated }: CreateKeyModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create API key" size="lg">
      {opened && <CreateKeyForm onClose={onClose} onCreated={onCreated} />}
    </Modal>
  );
}
