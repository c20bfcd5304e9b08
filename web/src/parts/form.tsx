import { Alert, PasswordInput, Stack, type StackProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { PASSWORD_LENGTH } from '../../../src/model/account.ts';

interface FormProps extends StackProps {
  onSubmit(): void;
  children: ReactNode;
}

/** A form with its fields below each other. */
export function Form({ onSubmit, ...fields }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Stack {...fields} />
    </form>
  );
}

/** The error of a failed submission. */
export function FormError({ error, title }: { error: Error | null; title?: string }) {
  if (!error) return null;
  return (
    <Alert color="red" role="alert" title={title}>
      {error.message}
    </Alert>
  );
}

/** Describes the passwords that the server accepts. */
export const PASSWORD_RULE = `At least ${PASSWORD_LENGTH.minLength} characters.`;

/** An input for the choice of a password. */
export const NewPasswordInput = PasswordInput.withProps({
  description: PASSWORD_RULE,
  required: true,
  minLength: PASSWORD_LENGTH.minLength,
  maxLength: PASSWORD_LENGTH.maxLength,
  autoComplete: 'new-password',
});
