import { Alert, Button, Code, Group, PasswordInput, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Answer } from '../../client/operations.ts';
import { useAccount, useAnswer, useChange } from '../../client/queries.ts';
import { ChangePassword } from '../../parts/change-password.tsx';
import { CopyText } from '../../parts/copy.tsx';
import { FactTable } from '../../parts/entity.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { Answered } from '../../parts/states.tsx';
import { fullTime, readable, tlpName, visibleText } from '../../parts/words.tsx';

export function Profile() {
  const account = useAccount();
  return (
    <Stack>
      <Section title="Profile">
        <FactTable
          rows={[
            ['Name', visibleText(account.name)],
            ['E-mail', account.email],
            ['Role', readable(account.role)],
            ['TLP ceiling', tlpName(account.tlpCeiling)],
          ]}
        />
      </Section>
      <Password />
      <TwoFactor isOn={account.twoFactor} />
      <Sessions ownId={account.sessionId} />
    </Stack>
  );
}

function Password() {
  const [round, setRound] = useState(0);
  return (
    <Section title="Password">
      <ChangePassword
        // Another form, whose boxes are empty.
        key={round}
        onDone={() => {
          setRound(round + 1);
          return 'Password changed. All other sessions were signed out.';
        }}
      />
    </Section>
  );
}

/** An authenticator's six digits beside the password (TOTP, RFC 6238). */
function TwoFactor({ isOn }: { isOn: boolean }) {
  const [password, setPassword] = useState('');
  const [started, setStarted] = useState<Answer<'POST /app/two-factor/start'> | null>(null);
  const start = useChange('POST /app/two-factor/start', (answer) => {
    setStarted(answer);
    setPassword('');
    return undefined;
  });
  const end = useChange('POST /app/two-factor/end', () => {
    setPassword('');
    return 'Two-factor authentication is off.';
  });
  if (started) return <Confirm started={started} onDone={() => setStarted(null)} />;
  const change = isOn ? end : start;
  return (
    <Section title="Two-factor authentication">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ body: { password } });
        }}
      >
        <Stack maw={420}>
          <Text size="sm">
            {isOn
              ? 'Sign-in asks for a code from your authenticator app.'
              : 'Protects your account if your password is stolen. Works with any authenticator app.'}
          </Text>
          {change.error && (
            <Alert color="red" role="alert">
              {change.error.message}
            </Alert>
          )}
          <PasswordInput
            label="Your password"
            required
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Group>
            <Button type="submit" variant={isOn ? 'default' : 'filled'} loading={change.isPending}>
              {isOn ? 'Turn off' : 'Set up'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Confirm({ started, onDone }: { started: Answer<'POST /app/two-factor/start'>; onDone(): void }) {
  const [code, setCode] = useState('');
  const confirm = useChange('POST /app/two-factor/confirm', () => {
    onDone();
    return 'Two-factor authentication is on.';
  });
  return (
    <Section title="Two-factor authentication">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate({ body: { code: code.trim() } });
        }}
      >
        <Stack maw={520}>
          <Text size="sm">1. Scan with your authenticator app or enter the key.</Text>
          <QrCode text={started.uri} label="QR code for an authenticator app" />
          <Code className="value" data-testid="totp-secret">
            {new URL(started.uri).searchParams.get('secret')}
          </Code>
          <Text size="sm">2. Store these backup codes somewhere other than your phone. Each works once.</Text>
          <Code block>{started.backupCodes.join('\n')}</Code>
          <Group>
            <CopyText value={started.backupCodes.join('\n')}>Copy backup codes</CopyText>
          </Group>
          {confirm.error && (
            <Alert color="red" role="alert">
              {confirm.error.message}
            </Alert>
          )}
          <TextInput
            label="3. Enter the current code"
            required
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Group>
            <Button type="submit" loading={confirm.isPending}>
              Turn on
            </Button>
            <Button variant="default" onClick={onDone}>
              Not now
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Sessions({ ownId }: { ownId: string }) {
  const query = useAnswer('GET /app/sessions');
  const end = useChange('DELETE /app/sessions/:id', () => 'Session signed out.');
  const endAll = useChange('POST /app/sign-out-everywhere', () => {
    window.location.assign('/sign-in');
    return undefined;
  });
  return (
    <Section
      title="Sessions"
      actions={
        <Button size="xs" variant="default" onClick={() => endAll.mutate({})} loading={endAll.isPending}>
          Sign out everywhere
        </Button>
      }
    >
      <Answered query={query}>
        {({ data }) => (
          <ScrollTable label="Sessions" minWidth={560}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>IP address</Table.Th>
                  <Table.Th>Browser</Table.Th>
                  <Table.Th>Signed in</Table.Th>
                  <Table.Th>Expires</Table.Th>
                  <Table.Th>End</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((session) => (
                  <Table.Tr key={session.id}>
                    <Table.Td>{session.address ?? '–'}</Table.Td>
                    <Table.Td maw={280} style={{ overflowWrap: 'anywhere' }}>
                      {visibleText(session.userAgent ?? '–')}
                    </Table.Td>
                    <Table.Td>{fullTime(session.createdAt)}</Table.Td>
                    <Table.Td>{fullTime(session.expiresAt)}</Table.Td>
                    <Table.Td>
                      {session.id === ownId ? (
                        'This session'
                      ) : (
                        <Button
                          size="compact-xs"
                          variant="default"
                          onClick={() => end.mutate({ params: { id: session.id } })}
                        >
                          End
                        </Button>
                      )}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollTable>
        )}
      </Answered>
    </Section>
  );
}
