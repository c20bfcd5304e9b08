import { Button, Code, Group, Text, TextInput } from '@mantine/core';
import type { ApiResponse } from '../../../client/operations.ts';
import { useApiMutation } from '../../../client/queries.ts';
import { CopyButton } from '../../../parts/copy-buttons.tsx';
import { Form, FormError } from '../../../parts/form.tsx';
import { QrCode } from '../../../parts/qr-code.tsx';
import { Section } from '../../../parts/section.tsx';
import { useFields } from '../../../parts/use-fields.ts';

interface ConfirmTwoFactorProps {
  started: ApiResponse<'POST /app/two-factor/start'>;
  onDone(): void;
}

/** The second step of the setup: the QR code, the backup codes and the first code. */
export function ConfirmTwoFactor({ started, onDone }: ConfirmTwoFactorProps) {
  const { values, text } = useFields({ code: '' });
  // Authenticator apps show the code in two halves.
  const code = values.code.replace(/\s/g, '');
  const confirm = useApiMutation('POST /app/two-factor/confirm', () => {
    onDone();
    return 'Two-factor authentication is on.';
  });
  return (
    <Section title="Two-factor authentication">
      <Form maw={520} onSubmit={() => confirm.mutate({ body: { code } })}>
        <Text size="sm">1. Scan with your authenticator app or enter the key.</Text>
        <QrCode text={started.uri} label="QR code for an authenticator app" />
        <Code className="value" data-testid="totp-secret">
          {new URL(started.uri).searchParams.get('secret')}
        </Code>
        <Text size="sm">2. Store these backup codes somewhere other than your phone. Each works once.</Text>
        <Code block>{started.backupCodes.join('\n')}</Code>
        <Group>
          <CopyButton value={started.backupCodes.join('\n')}>Copy backup codes</CopyButton>
        </Group>
        <FormError error={confirm.error} />
        <TextInput
          label="3. Enter the current code"
          required
          inputMode="numeric"
          autoComplete="one-time-code"
          {...text('code')}
        />
        <Group>
          <Button type="submit" loading={confirm.isPending}>
            Turn on
          </Button>
          <Button variant="default" onClick={onDone}>
            Not now
          </Button>
        </Group>
      </Form>
    </Section>
  );
}
