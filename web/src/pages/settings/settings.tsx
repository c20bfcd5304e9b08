import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { Role } from '../../../../src/model/account.ts';
import { useAccount } from '../../client/queries.ts';
import { Page } from '../../parts/page.tsx';
import { may } from '../../shell/shell.tsx';
import { Keys } from './keys.tsx';
import { Profile } from './profile.tsx';
import { Users } from './users.tsx';

const SECTIONS: { name: string; title: string; needs: Role; content: () => ReactNode }[] = [
  { name: 'keys', title: 'API keys', needs: 'viewer', content: Keys },
  { name: 'profile', title: 'Profile and sessions', needs: 'viewer', content: Profile },
  { name: 'users', title: 'Users and roles', needs: 'administrator', content: Users },
];

export function Settings() {
  const { role } = useAccount();
  const { section } = useParams({ strict: false });
  const go = useNavigate();
  const own = SECTIONS.filter(({ needs }) => may(role, needs));
  const first = may(role, 'analyst') ? 'keys' : 'profile';
  const current = own.find(({ name }) => name === (section ?? first)) ?? own[0];
  useEffect(() => {
    if (current && section !== undefined && section !== current.name)
      void go({ to: '/settings/$section', params: { section: current.name }, replace: true });
  }, [current, section, go]);
  if (!current) return null;
  return (
    <Page title="Settings">
      <Tabs
        value={current.name}
        onChange={(name) => name && void go({ to: '/settings/$section', params: { section: name } })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {own.map(({ name, title }) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {own.map(({ name, content: Content }) => (
          <Tabs.Panel key={name} value={name}>
            <Content />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
