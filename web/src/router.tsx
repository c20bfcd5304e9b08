import { useSuspenseQuery } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  useRouter,
} from '@tanstack/react-router';
import { useEffect } from 'react';
import { toQueryString } from './client/api.ts';
import { readSession, session } from './client/queries.ts';
import { restoreFragment } from './client/sign-in-fragment.ts';
import { Loading } from './parts/loading.tsx';
import { NotFound } from './parts/not-found.tsx';
import { PageError } from './parts/page-error.tsx';
import { Shell } from './shell/shell.tsx';

/** The search parameters of a URL: text values, each name once. */
export type SearchParams = Record<string, string | undefined>;

/** Drops empty values and converts the others to text. */
const toSearchParams = (search: Record<string, unknown>): SearchParams =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => [name, String(value)]),
  );

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ to, error }): { to?: string; error?: string } => ({
    ...(typeof to === 'string' && { to }),
    ...(typeof error === 'string' && { error }),
  }),
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in.tsx'), 'SignIn'),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: '/new-password',
  validateSearch: ({ to }): { to?: string } => (typeof to === 'string' ? { to } : {}),
  component: lazyRouteComponent(() => import('./pages/new-password.tsx'), 'NewPassword'),
});

const firstStart = createRoute({
  getParentRoute: () => root,
  path: '/first-start',
  component: lazyRouteComponent(() => import('./pages/first-start.tsx'), 'FirstStart'),
});

/** The layout of all pages that require a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: SignedInShell,
  beforeLoad: async ({ location }) => {
    const { account, firstStart } = await readSession();
    if (firstStart) throw redirect({ to: '/first-start' });
    // A look-up has its values in the fragment, which must not become part of a query: servers and proxies log those.
    const [to, ...fragment] = location.href.split('#');
    const back = { search: to === '/' ? {} : { to }, hash: fragment.join('#') };
    if (!account) throw redirect({ to: '/sign-in', ...back });
    if (account.mustChangePassword) throw redirect({ to: '/new-password', ...back });
  },
});

/** The frame of the pages, while there is a session. Once it has ended, `beforeLoad` redirects to the sign-in page. */
function SignedInShell() {
  const router = useRouter();
  const isSignedIn = useSuspenseQuery(session).data.account !== null;
  useEffect(() => {
    if (!isSignedIn) void router.invalidate();
  }, [isSignedIn, router]);
  return isSignedIn ? <Shell /> : <Loading />;
}

const inShell = { getParentRoute: () => shell };

const overview = createRoute({
  ...inShell,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview.tsx'), 'Overview'),
});
const lookup = createRoute({
  ...inShell,
  path: '/lookup',
  component: lazyRouteComponent(() => import('./pages/lookup/lookup.tsx'), 'Lookup'),
});
const indicators = createRoute({
  ...inShell,
  path: '/indicators',
  validateSearch: toSearchParams,
  component: lazyRouteComponent(() => import('./pages/indicators/indicators.tsx'), 'Indicators'),
});
const indicator = createRoute({
  ...inShell,
  path: '/indicators/$id',
  component: lazyRouteComponent(() => import('./pages/indicator/indicator.tsx'), 'Indicator'),
});
const actors = createRoute({
  ...inShell,
  path: '/actors',
  validateSearch: toSearchParams,
  component: lazyRouteComponent(() => import('./pages/actors/actors.tsx'), 'Actors'),
});
const actor = createRoute({
  ...inShell,
  path: '/actors/$id',
  component: lazyRouteComponent(() => import('./pages/actor/actor.tsx'), 'Actor'),
});
const campaigns = createRoute({
  ...inShell,
  path: '/campaigns',
  validateSearch: toSearchParams,
  component: lazyRouteComponent(() => import('./pages/campaigns/campaigns.tsx'), 'Campaigns'),
});
const campaign = createRoute({
  ...inShell,
  path: '/campaigns/$id',
  component: lazyRouteComponent(() => import('./pages/campaign.tsx'), 'Campaign'),
});
const report = createRoute({
  ...inShell,
  path: '/reports/$id',
  component: lazyRouteComponent(() => import('./pages/report.tsx'), 'Report'),
});
const imports = createRoute({
  ...inShell,
  path: '/imports',
  validateSearch: toSearchParams,
  component: lazyRouteComponent(() => import('./pages/imports/imports.tsx'), 'Imports'),
});
const importRun = createRoute({
  ...inShell,
  path: '/imports/$id',
  validateSearch: toSearchParams,
  component: lazyRouteComponent(() => import('./pages/import-run/import-run.tsx'), 'ImportRun'),
});
const sources = createRoute({
  ...inShell,
  path: '/sources',
  component: lazyRouteComponent(() => import('./pages/sources/sources.tsx'), 'Sources'),
});
const whitelist = createRoute({
  ...inShell,
  path: '/whitelist',
  component: lazyRouteComponent(() => import('./pages/whitelist/whitelist.tsx'), 'Whitelist'),
});
const audit = createRoute({
  ...inShell,
  path: '/audit',
  validateSearch: toSearchParams,
  component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'Audit'),
});
const settings = createRoute({
  ...inShell,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'Settings'),
});
const settingsSection = createRoute({
  ...inShell,
  path: '/settings/$section',
  component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'Settings'),
});

restoreFragment();

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    firstStart,
    newPassword,
    shell.addChildren([
      overview,
      lookup,
      indicators,
      indicator,
      actors,
      actor,
      campaigns,
      campaign,
      report,
      imports,
      importRun,
      sources,
      whitelist,
      audit,
      settings,
      settingsSection,
    ]),
  ]),
  parseSearch: (text) => {
    const search = new URLSearchParams(text);
    // The server takes a repeated parameter and a list with commas alike.
    return Object.fromEntries([...search.keys()].map((name) => [name, search.getAll(name).join(',')]));
  },
  stringifySearch: (search) => {
    const text = toQueryString(search);
    return text ? `?${text}` : '';
  },
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
