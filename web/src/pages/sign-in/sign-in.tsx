import { Alert, Button, Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { sameSitePath } from '../../../../src/model/account.ts';
import { apiUrl } from '../../client/api.ts';
import { apiQueryOptions } from '../../client/queries.ts';
import { storeFragment } from '../../client/sign-in-fragment.ts';
import { StandalonePage } from '../../parts/standalone-page.tsx';
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
  const continueToPage = () => window.location.assign(sameSitePath(to) + window.location.hash);
  if (session.data?.firstStart) return <Navigate to="/first-start" />;
  if (asksForCode)
    return (
      <StandalonePage title="Sign in" heading="Two-factor authentication" maxWidth={400}>
        <CodeForm onDone={continueToPage} onBack={() => setAsksForCode(false)} />
      </StandalonePage>
    );
  return (
    <StandalonePage title="Sign in" heading="Sign in to Tipline" maxWidth={400}>
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
            onClick={() => storeFragment(sameSitePath(to))}
          >
            Sign in with {session.data.signInWith}
          </Button>
        </>
      )}
    </StandalonePage>
  );
}
