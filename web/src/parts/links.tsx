import { Anchor, type AnchorProps, Badge, type BadgeProps, NavLink, type NavLinkProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

/** Links of the router that look like Mantine's parts. */
type Own<Props> = Props & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props>;

export const PageLink = createLink((props: Own<AnchorProps>) => <Anchor {...props} />);
export const NavItem = createLink((props: Own<NavLinkProps>) => <NavLink {...props} />);
export const BadgeLink = createLink((props: Own<BadgeProps>) => <Badge component="a" {...props} />);
