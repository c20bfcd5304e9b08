import IconLogout from 'icon:logout';
import IconSearch from 'icon:search';
import IconUser from 'icon:user';
import { ActionIcon, Anchor, AppShell, Burger, Button, Group, Kbd, Menu, NavLink, Text } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { hasRole } from '../../../src/model/account.ts';
import { useAccount } from '../client/queries.ts';
import { signOut } from '../client/sign-out.ts';
import { Announcer } from '../parts/announce.tsx';
import { sentenceCase } from '../parts/format.ts';
import { SidebarLink } from '../parts/links.tsx';
import { NAV_ITEMS } from './nav-items.ts';
import { Palette } from './palette.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

/** Focuses the search box of the page, or opens the palette if the page has none. */
function focusSearch(): void {
  const box = document.querySelector<HTMLInputElement>('[data-page-search]');
  if (box) box.focus();
  else spotlight.open();
}

/** The frame of all pages behind the sign-in: header, navigation and palette. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const account = useAccount();
  // On many keyboard layouts the slash is typed with Shift.
  useHotkeys([
    ['/', focusSearch],
    ['shift+/', focusSearch],
  ]);
  const previousPath = useRef(path);
  // Navigation closes the menu of small screens; screen readers start at the top of the new page.
  useEffect(() => {
    if (previousPath.current === path) return;
    previousPath.current = path;
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
            <ThemeSwitch />
            <Menu position="bottom-end" withinPortal>
              <Menu.Target>
                <ActionIcon variant="default" size="lg" aria-label="Account">
                  <IconUser size={18} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Label>
                  {account.email} · {sentenceCase(account.role)}
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
        {NAV_ITEMS.filter(({ requiredRole }) => hasRole(account.role, requiredRole)).map(
          ({ to, name, icon: Icon }) => (
            <SidebarLink
              key={to}
              to={to}
              label={name}
              leftSection={<Icon size={18} />}
              active={to === '/' ? path === '/' : path.startsWith(to)}
              aria-current={path === to ? 'page' : undefined}
            />
          ),
        )}
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
