import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { Role } from '../../../../src/model/account.ts';
import { hasRole } from '../../../../src/model/account.ts';
import { useAccount } from '../../client/queries.ts';
import { Page } from '../../parts/page.tsx';
import { Feeds } from './feeds/feeds.tsx';
import { Keys } from './keys/keys.tsx';
import { Profile } from './profile/profile.tsx';
import { Users } from './users/users.tsx';

const SECTIONS: { name: string; title: string; requiredRole: Role; content: () => ReactNode }[] = [
  { name: 'keys', title: 'API keys', requiredRole: 'viewer', content: Keys },
  { name: 'feeds', title: 'Feeds', requiredRole: 'viewer', content: Feeds },
  { name: 'profile', title: 'Profile and sessions', requiredRole: 'viewer', content: Profile },
  { name: 'users', title: 'Users and roles', requiredRole: 'administrator', content: Users },
];

export function Settings() {
  const { role } = useAccount();
  const { section } = useParams({ strict: false });
  const navigate = useNavigate();
  const allowed = SECTIONS.filter(({ requiredRole }) => hasRole(role, requiredRole));
  const first = hasRole(role, 'analyst') ? 'keys' : 'profile';
  const current = allowed.find(({ name }) => name === (section ?? first)) ?? allowed[0];
  useEffect(() => {
    if (current && section !== undefined && section !== current.name)
      void navigate({ to: '/settings/$section', params: { section: current.name }, replace: true });
  }, [current, section, navigate]);
  if (!current) return null;
  return (
    <Page title="Settings">
      <Tabs
        value={current.name}
        onChange={(name) => name && void navigate({ to: '/settings/$section', params: { section: name } })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {allowed.map(({ name, title }) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {allowed.map(({ name, content: Content }) => (
          <Tabs.Panel key={name} value={name}>
            <Content />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
