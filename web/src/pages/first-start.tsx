import {
  Alert,
  Button,
  Center,
  Code,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { PASSWORD_LENGTH } from '../../../src/model/account.ts';
import { call } from '../client/call.ts';
import { answerOf } from '../client/queries.ts';

/** The token stands behind the hash: it is sent to no server, and into no log. */
const tokenOf = () => window.location.hash.slice(1);

export function FirstStart() {
  const session = useQuery(answerOf('GET /app/session'));
  const [given, setGiven] = useState({ name: '', email: '', password: '', token: tokenOf() });
  const set = (name: keyof typeof given) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setGiven((before) => ({ ...before, [name]: value }));
  };
  useEffect(() => {
    document.title = 'First start · Tipline';
  }, []);
  const make = useMutation({
    mutationFn: async () => {
      // Made already, by a click before this one: then it is signing in that is missing.
      const { firstStart } = await call('GET /app/session');
      if (firstStart) await call('POST /app/first-start', { body: given });
      await call('POST /app/sign-in', { body: { email: given.email, password: given.password } });
    },
    onSuccess: () => window.location.assign('/'),
  });
  if (session.data && !session.data.firstStart && !make.isPending && !make.isSuccess)
    return <Navigate to="/sign-in" />;
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={440}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            make.mutate();
          }}
        >
          <Stack>
            <Title order={1} size="h3">
              Welcome to Tipline
            </Title>
            {given.token === '' && tokenOf() === '' ? (
              <Alert title="Setup link required">
                <Text size="sm">
                  No accounts exist yet. Open the link that the server printed at startup, or create the first
                  administrator with <Code>tipline users create</Code>. Restarting the server prints a new
                  link.
                </Text>
              </Alert>
            ) : (
              <>
                <Text size="sm">Create the first administrator account.</Text>
                {make.error && (
                  <Alert color="red" role="alert">
                    {make.error.message}
                  </Alert>
                )}
                <TextInput
                  label="Name"
                  required
                  autoFocus
                  autoComplete="name"
                  value={given.name}
                  onChange={set('name')}
                />
                <TextInput
                  label="E-mail"
                  type="email"
                  required
                  autoComplete="username"
                  value={given.email}
                  onChange={set('email')}
                />
                <PasswordInput
                  label="Password"
                  description={`At least ${PASSWORD_LENGTH.minLength} characters. A passphrase works well.`}
                  required
                  minLength={PASSWORD_LENGTH.minLength}
                  maxLength={PASSWORD_LENGTH.maxLength}
                  autoComplete="new-password"
                  value={given.password}
                  onChange={set('password')}
                />
                <Button type="submit" loading={make.isPending}>
                  Create account
                </Button>
              </>
            )}
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
