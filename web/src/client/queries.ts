import { notifications } from '@mantine/notifications';
import {
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { CallError, call } from './call.ts';
import type { Answer, Given, Key } from './operations.ts';

const SIGN_IN = '/sign-in';

/** Whose session has ended is asked to sign in, and comes back to where they were. */
function leaveWhenSignedOut(error: unknown): void {
  if (!(error instanceof CallError) || error.code !== 'not_signed_in') return;
  const { pathname, search } = window.location;
  if (pathname === SIGN_IN) return;
  window.location.assign(`${SIGN_IN}?${new URLSearchParams({ to: pathname + search })}`);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
  mutationCache: new MutationCache({ onError: leaveWhenSignedOut }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What was refused is refused again.
      retry: (count, error) =>
        count < 2 && error instanceof CallError && (error.status === 0 || error.status >= 500),
    },
  },
});

export function answerOf<K extends Key>(key: K, given: Given<K> = {}) {
  return queryOptions({
    queryKey: [key, given],
    queryFn: ({ signal }) => call(key, given, signal),
  });
}

/** What the server answers; while another page of it comes, the one before is shown. */
export function useAnswer<K extends Key>(
  key: K,
  given: Given<K> = {},
  refetchMs: (answer?: Answer<K>) => number | false = () => false,
  enabled = true,
) {
  return useQuery({
    ...answerOf(key, given),
    enabled,
    // Of another thing nothing is shown in its place.
    placeholderData: (before, query) =>
      isOfSame(query?.queryKey[1] as Given<K> | undefined, given) ? before : undefined,
    refetchInterval: ({ state }) => refetchMs(state.data as Answer<K> | undefined),
  });
}

const isOfSame = <K extends Key>(a: Given<K> | undefined, b: Given<K>) =>
  JSON.stringify(a?.params) === JSON.stringify(b.params);

/** Something that changes the server's state: all that is shown is asked for anew. What goes wrong is told. */
export function useChange<K extends Key>(key: K, done?: (answer: Answer<K>) => string | undefined) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (given: Given<K>) => call(key, given),
    onSuccess: async (answer) => {
      await client.invalidateQueries();
      const message = done?.(answer);
      if (message) notifications.show({ message, color: 'green' });
    },
    onError: (error) => notifications.show({ title: 'Request failed', message: error.message, color: 'red' }),
  });
}

const session = answerOf('GET /app/session');

/** Who is signed in; on every page but those of signing in. */
export function useAccount() {
  const { account } = useSuspenseQuery(session).data;
  if (!account) throw new CallError(401, 'not_signed_in', 'Sign in first.');
  return account;
}

/** What is known of it at once, where it is known; looked at again beside that. */
export const readSession = () => queryClient.ensureQueryData({ ...session, revalidateIfStale: true });
