import {
  ActionIcon,
  Anchor,
  AppShell,
  Burger,
  Button,
  Group,
  Kbd,
  Menu,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { spotlight } from '@mantine/spotlight';
import {
  IconBug,
  IconClipboardList,
  IconDatabaseImport,
  IconFlag,
  IconHome,
  IconLogout,
  IconMoon,
  IconRss,
  IconSearch,
  IconSettings,
  IconShieldOff,
  IconSun,
  IconUser,
  IconUserShield,
} from '@tabler/icons-react';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ROLES, type Role } from '../../../src/model/account.ts';
import { CallError, call } from '../client/call.ts';
import { useAccount } from '../client/queries.ts';
import { Announcer } from '../parts/announce.tsx';
import { NavItem } from '../parts/links.tsx';
import { readable } from '../parts/words.tsx';
import { Palette } from './palette.tsx';

interface Place {
  to:
    | '/'
    | '/indicators'
    | '/actors'
    | '/campaigns'
    | '/imports'
    | '/sources'
    | '/whitelist'
    | '/audit'
    | '/settings';
  name: string;
  icon: typeof IconHome;
  needs: Role;
}

export const PLACES: Place[] = [
  { to: '/', name: 'Overview', icon: IconHome, needs: 'viewer' },
  { to: '/indicators', name: 'Indicators', icon: IconBug, needs: 'viewer' },
  { to: '/actors', name: 'Actors', icon: IconUserShield, needs: 'viewer' },
  { to: '/campaigns', name: 'Campaigns', icon: IconFlag, needs: 'viewer' },
  { to: '/imports', name: 'Imports', icon: IconDatabaseImport, needs: 'viewer' },
  { to: '/sources', name: 'Sources', icon: IconRss, needs: 'viewer' },
  { to: '/whitelist', name: 'Whitelist', icon: IconShieldOff, needs: 'analyst' },
  { to: '/audit', name: 'Audit', icon: IconClipboardList, needs: 'administrator' },
  { to: '/settings', name: 'Settings', icon: IconSettings, needs: 'viewer' },
];

export const may = (role: Role, needs: Role) => ROLES.indexOf(role) >= ROLES.indexOf(needs);

export async function signOut(): Promise<void> {
  try {
    await call('POST /app/sign-out');
  } catch (error) {
    // Whose session has ended already is signed out.
    if (!(error instanceof CallError && error.status === 401))
      return void notifications.show({
        color: 'red',
        title: 'Sign-out failed',
        message: String((error as Error).message),
      });
  }
  window.location.assign('/sign-in');
}

/** The search box of the page, or, where it has none, the palette. */
function focusSearch(): void {
  const box = document.querySelector<HTMLInputElement>('[data-page-search]');
  if (box) box.focus();
  else spotlight.open();
}

export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const account = useAccount();
  // On many keyboards the slash is above another key.
  useHotkeys([
    ['/', focusSearch],
    ['shift+/', focusSearch],
  ]);
  const before = useRef(path);
  // Another page closes the menu of small screens, and whoever reads by ear begins at its top.
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    close();
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [path, close]);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <Anchor href="#main" className="skip-link">
        Skip to the content
      </Anchor>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <img src="/favicon.svg" alt="" width={26} height={26} />
            <Text fw={700} visibleFrom="xs">
              Tipline
            </Text>
          </Group>
          <Button
            variant="default"
            size="xs"
            onClick={spotlight.open}
            leftSection={<IconSearch size={14} />}
            rightSection={<Kbd size="xs">Ctrl K</Kbd>}
          >
            Search
          </Button>
          <Group gap="xs" wrap="nowrap">
            <SchemeSwitch />
            <Menu position="bottom-end" withinPortal>
              <Menu.Target>
                <ActionIcon variant="default" size="lg" aria-label="Account">
                  <IconUser size={18} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Label>
                  {account.email} · {readable(account.role)}
                </Menu.Label>
                <Menu.Item leftSection={<IconLogout size={14} />} onClick={() => void signOut()}>
                  Sign out
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main">
        {PLACES.filter(({ needs }) => may(account.role, needs)).map(({ to, name, icon: Icon }) => (
          <NavItem
            key={to}
            to={to}
            label={name}
            leftSection={<Icon size={18} />}
            active={to === '/' ? path === '/' : path.startsWith(to)}
            aria-current={path === to ? 'page' : undefined}
          />
        ))}
        <NavLink href="/api/docs" label="API reference" mt="auto" />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
      <Palette />
      <Announcer />
    </AppShell>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={() => setColorScheme(other)}
      aria-label={`Switch to ${other} theme`}
    >
      {scheme === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}
