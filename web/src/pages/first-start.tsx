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
import { callApi } from '../client/api.ts';
import { apiQueryOptions } from '../client/queries.ts';

/** Returns the token from the fragment of the URL, which browsers send to no server and which appears in no log. */
const readToken = () => window.location.hash.slice(1);

export function FirstStart() {
  const session = useQuery(apiQueryOptions('GET /app/session'));
  const [fields, setFields] = useState({ name: '', email: '', password: '', token: readToken() });
  const set = (name: keyof typeof fields) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setFields((previous) => ({ ...previous, [name]: value }));
  };
  useEffect(() => {
    document.title = 'First start · Tipline';
  }, []);
  const createAdministrator = useMutation({
    mutationFn: async () => {
      // An earlier attempt may have created the account and failed to sign in.
      const { firstStart } = await callApi('GET /app/session');
      if (firstStart) await callApi('POST /app/first-start', { body: fields });
      await callApi('POST /app/sign-in', { body: { email: fields.email, password: fields.password } });
    },
    onSuccess: () => window.location.assign('/'),
  });
  if (
    session.data &&
    !session.data.firstStart &&
    !createAdministrator.isPending &&
    !createAdministrator.isSuccess
  )
    return <Navigate to="/sign-in" />;
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={440}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            createAdministrator.mutate();
          }}
        >
          <Stack>
            <Title order={1} size="h3">
              Welcome to Tipline
            </Title>
            {fields.token === '' && readToken() === '' ? (
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
                {createAdministrator.error && (
                  <Alert color="red" role="alert">
                    {createAdministrator.error.message}
                  </Alert>
                )}
                <TextInput
                  label="Name"
                  required
                  autoFocus
                  autoComplete="name"
                  value={fields.name}
                  onChange={set('name')}
                />
                <TextInput
                  label="E-mail"
                  type="email"
                  required
                  autoComplete="username"
                  value={fields.email}
                  onChange={set('email')}
                />
                <PasswordInput
                  label="Password"
                  description={`At least ${PASSWORD_LENGTH.minLength} characters. A passphrase works well.`}
                  required
                  minLength={PASSWORD_LENGTH.minLength}
                  maxLength={PASSWORD_LENGTH.maxLength}
                  autoComplete="new-password"
                  value={fields.password}
                  onChange={set('password')}
                />
                <Button type="submit" loading={createAdministrator.isPending}>
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
