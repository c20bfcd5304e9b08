import {
  Anchor,
  type AnchorProps,
  Badge,
  type BadgeProps,
  NavLink,
  type NavLinkProps,
  Text,
} from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode } from 'react';
import { visibleText } from '../../../src/model/visible-text.ts';
import { Dimmed } from './text.tsx';

/** Props of a Mantine component, with those of the anchor that it renders. */
type WithAnchorProps<Props> = Props & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props>;

export const PageLink = createLink((props: WithAnchorProps<AnchorProps>) => <Anchor {...props} />);
export const SidebarLink = createLink((props: WithAnchorProps<NavLinkProps>) => <NavLink {...props} />);
export const BadgeLink = createLink((props: WithAnchorProps<BadgeProps>) => (
  <Badge component="a" {...props} />
));

interface ReportLinkProps extends AnchorProps {
  report: { id: string; title: string };
}

/** The title of a report, linked to its page. */
export function ReportLink({ report, ...anchor }: ReportLinkProps) {
  return (
    <PageLink to="/reports/$id" params={{ id: report.id }} underline="always" {...anchor}>
      {visibleText(report.title)}
    </PageLink>
  );
}

interface UsedByLinkProps extends AnchorProps {
  used: { attackId: string | null; name: string };
}

/** The name of a technique or software, linked to the actors that use it. */
export function UsedByLink({ used: { attackId, name }, ...anchor }: UsedByLinkProps) {
  return (
    <PageLink to="/actors" search={{ uses: attackId ?? name }} title="Actors using this" {...anchor}>
      {visibleText(name)}
    </PageLink>
  );
}

/** The value of an indicator, linked to its page. */
export function IndicatorLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <PageLink to="/indicators/$id" params={{ id }} className="value" fz="sm">
      {children}
    </PageLink>
  );
}

interface EntityLineProps {
  to: '/actors/$id' | '/campaigns/$id';
  entity: { id: string; name: string };
  /** Shown after the name. */
  children: ReactNode;
}

/** A line with the name of an actor or campaign, linked to its page. */
export function EntityLine({ to, entity: { id, name }, children }: EntityLineProps) {
  return (
    <Text size="sm">
      <PageLink to={to} params={{ id }}>
        {visibleText(name)}
      </PageLink>{' '}
      <Dimmed>{children}</Dimmed>
    </Text>
  );
}
