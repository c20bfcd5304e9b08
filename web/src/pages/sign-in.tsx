import {
  Alert,
  Button,
  Center,
  Divider,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Navigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { ownPath } from '../../../src/model/own-path.ts';
import { addressOf, call } from '../client/call.ts';
import { answerOf } from '../client/queries.ts';

/** What went wrong with the provider, as the server says in the address. */
const ERRORS: Record<string, string> = {
  refused: 'No account matches this identity. Ask an administrator.',
  provider: 'Sign-in with the provider failed. Try again or use your password.',
};

export function SignIn() {
  const { to, error } = useSearch({ from: '/sign-in' });
  const session = useQuery(answerOf('GET /app/session'));
  const [asksForCode, setAsksForCode] = useState(false);
  const enter = () => window.location.assign(ownPath(to));
  useEffect(() => {
    document.title = 'Sign in · Tipline';
  }, []);
  if (session.data?.firstStart) return <Navigate to="/first-start" />;
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={400}>
        <Stack>
          <Title order={1} size="h3">
            {asksForCode ? 'Two-factor authentication' : 'Sign in to Tipline'}
          </Title>
          {asksForCode ? (
            <Code onDone={enter} onBack={() => setAsksForCode(false)} />
          ) : (
            <>
              {error && (
                <Alert color="red" role="alert">
                  {ERRORS[error] ?? ERRORS.provider}
                </Alert>
              )}
              <Password onDone={enter} onCode={() => setAsksForCode(true)} />
              {session.data?.signInWith && (
                <>
                  <Divider label="or" />
                  <Button
                    component="a"
                    variant="default"
                    href={addressOf('GET /app/oidc/start', { query: { to: ownPath(to) } })}
                  >
                    Sign in with {session.data.signInWith}
                  </Button>
                </>
              )}
            </>
          )}
        </Stack>
      </Paper>
    </Center>
  );
}

function Password({ onDone, onCode }: { onDone(): void; onCode(): void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const attempt = useMutation({
    mutationFn: () => call('POST /app/sign-in', { body: { email, password } }),
    onSuccess: ({ twoFactor }) => (twoFactor ? onCode() : onDone()),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    attempt.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {attempt.error && (
          <Alert color="red" role="alert">
            {attempt.error.message}
          </Alert>
        )}
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" loading={attempt.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function Code({ onDone, onBack }: { onDone(): void; onBack(): void }) {
  const [code, setCode] = useState('');
  // Authenticators show it in two halves.
  const text = code.replace(/\s/g, '');
  const isBackup = !/^\d{0,6}$/.test(text);
  const attempt = useMutation({
    mutationFn: () => {
      return call('POST /app/sign-in/code', { body: isBackup ? { backupCode: text } : { code: text } });
    },
    onSuccess: onDone,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        attempt.mutate();
      }}
    >
      <Stack>
        <Text size="sm">The 6-digit code from your authenticator app, or a backup code.</Text>
        {attempt.error && (
          <Alert color="red" role="alert">
            {attempt.error.message}
          </Alert>
        )}
        <TextInput
          label="Code"
          autoComplete="one-time-code"
          required
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Button type="submit" loading={attempt.isPending}>
          Continue
        </Button>
        <Button variant="subtle" onClick={onBack}>
          Back to sign-in
        </Button>
      </Stack>
    </form>
  );
}
