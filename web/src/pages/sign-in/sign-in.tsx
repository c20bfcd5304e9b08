import { Alert, Button, Center, Divider, Paper, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { sameSitePath } from '../../../../src/model/same-site-path.ts';
import { apiUrl } from '../../client/api.ts';
import { apiQueryOptions } from '../../client/queries.ts';
import { CodeForm } from './code-form.tsx';
import { PasswordForm } from './password-form.tsx';

/** Errors of the sign-in with a provider, by the code that the server puts into the URL. */
const ERRORS: Record<string, string> = {
  refused: 'No account matches this identity. Ask an administrator.',
  provider: 'Sign-in with the provider failed. Try again or use your password.',
};

export function SignIn() {
  const { to, error } = useSearch({ from: '/sign-in' });
  const session = useQuery(apiQueryOptions('GET /app/session'));
  const [asksForCode, setAsksForCode] = useState(false);
  const continueToPage = () => window.location.assign(sameSitePath(to));
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
            <CodeForm onDone={continueToPage} onBack={() => setAsksForCode(false)} />
          ) : (
            <>
              {error && (
                <Alert color="red" role="alert">
                  {ERRORS[error] ?? ERRORS.provider}
                </Alert>
              )}
              <PasswordForm onDone={continueToPage} onCode={() => setAsksForCode(true)} />
              {session.data?.signInWith && (
                <>
                  <Divider label="or" />
                  <Button
                    component="a"
                    variant="default"
                    href={apiUrl('GET /app/oidc/start', { query: { to: sameSitePath(to) } })}
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
