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
import { hasRole, type Role } from '../../../src/model/account.ts';
import { ApiError, callApi } from './api.ts';
import type { ApiRequest, ApiResponse, OperationKey } from './operations.ts';

const SIGN_IN = '/sign-in';

/** Redirects to the sign-in page once the session has ended; signing in returns to the current page. */
function redirectWhenSignedOut(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 'not_signed_in') return;
  const { pathname, search, hash } = window.location;
  if (pathname === SIGN_IN) return;
  window.location.assign(`${SIGN_IN}?${new URLSearchParams({ to: pathname + search })}${hash}`);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: redirectWhenSignedOut }),
  mutationCache: new MutationCache({ onError: redirectWhenSignedOut }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Only connection failures and server errors are temporary.
      retry: (count, error) =>
        count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
  },
});

/** Returns the query options of an operation. */
export function apiQueryOptions<K extends OperationKey>(key: K, request: ApiRequest<K> = {}) {
  return queryOptions({
    queryKey: [key, request],
    queryFn: ({ signal }) => callApi(key, request, signal),
  });
}

/** Queries an operation. While another page or filter loads, the previous data stays visible. */
export function useApiQuery<K extends OperationKey>(
  key: K,
  request: ApiRequest<K> = {},
  refetchInterval: (response?: ApiResponse<K>) => number | false = () => false,
  enabled = true,
) {
  return useQuery({
    ...apiQueryOptions(key, request),
    enabled,
    // The data of another object must not appear under this URL.
    placeholderData: (previous, query) =>
      hasSameParams(query?.queryKey[1] as ApiRequest<K> | undefined, request) ? previous : undefined,
    refetchInterval: ({ state }) => refetchInterval(state.data as ApiResponse<K> | undefined),
  });
}

const hasSameParams = <K extends OperationKey>(a: ApiRequest<K> | undefined, b: ApiRequest<K>) =>
  JSON.stringify(a?.params) === JSON.stringify(b.params);

/**
 * Calls an operation that changes the state of the server, then invalidates all queries, without waiting for their
 * responses. Shows errors as a notification.
 * @param onSuccess returns the text of a success notification, if any
 */
export function useApiMutation<K extends OperationKey>(
  key: K,
  onSuccess?: (response: ApiResponse<K>) => string | undefined,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (request: ApiRequest<K>) => callApi(key, request),
    onSuccess: (response) => {
      void client.invalidateQueries();
      const message = onSuccess?.(response);
      if (message) notifications.show({ message, color: 'green' });
    },
    onError: (error) => {
      // The page shows an earlier state.
      if (error instanceof ApiError && error.code === 'conflict') void client.invalidateQueries();
      notifications.show({ title: 'Request failed', message: error.message, color: 'red' });
    },
  });
}

export const session = apiQueryOptions('GET /app/session');

/** Returns the signed-in account. Only for pages that require a session. */
export function useAccount() {
  const { account } = useSuspenseQuery(session).data;
  if (!account) throw new ApiError(401, 'not_signed_in', 'Sign in first.');
  return account;
}

/** Returns whether the signed-in account has a role or a higher one. */
export const useHasRole = (role: Role) => hasRole(useAccount().role, role);

/** Returns the session from the cache if it is there, and refreshes it in the background. */
export const readSession = () => queryClient.ensureQueryData({ ...session, revalidateIfStale: true });

/** Queries the session. The page of a session that has ended gives way to the sign-in page. */
export const refreshSession = () => void queryClient.refetchQueries({ queryKey: session.queryKey });
