import { Anchor, type AnchorProps, Badge, type BadgeProps, NavLink, type NavLinkProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

/** Props of a Mantine component, with those of the anchor that it renders. */
type WithAnchorProps<Props> = Props & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props>;

export const PageLink = createLink((props: WithAnchorProps<AnchorProps>) => <Anchor {...props} />);
export const SidebarLink = createLink((props: WithAnchorProps<NavLinkProps>) => <NavLink {...props} />);
export const BadgeLink = createLink((props: WithAnchorProps<BadgeProps>) => (
  <Badge component="a" {...props} />
));
