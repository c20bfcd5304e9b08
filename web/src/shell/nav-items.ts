import IconBug from 'icon:bug';
import IconClipboardList from 'icon:clipboard-list';
import IconDatabaseImport from 'icon:database-import';
import IconFlag from 'icon:flag';
import IconHome from 'icon:home';
import IconListSearch from 'icon:list-search';
import IconRss from 'icon:rss';
import IconSettings from 'icon:settings';
import IconShieldOff from 'icon:shield-off';
import IconUserShield from 'icon:user-shield';
import type { Role } from '../../../src/model/account.ts';

interface NavItem {
  to:
    | '/'
    | '/lookup'
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
  requiredRole: Role;
}

export const NAV_ITEMS: NavItem[] = [
  { to: '/', name: 'Overview', icon: IconHome, requiredRole: 'viewer' },
  { to: '/lookup', name: 'Look up', icon: IconListSearch, requiredRole: 'viewer' },
  { to: '/indicators', name: 'Indicators', icon: IconBug, requiredRole: 'viewer' },
  { to: '/actors', name: 'Actors', icon: IconUserShield, requiredRole: 'viewer' },
  { to: '/campaigns', name: 'Campaigns', icon: IconFlag, requiredRole: 'viewer' },
  { to: '/imports', name: 'Imports', icon: IconDatabaseImport, requiredRole: 'viewer' },
  { to: '/sources', name: 'Sources', icon: IconRss, requiredRole: 'viewer' },
  { to: '/whitelist', name: 'Whitelist', icon: IconShieldOff, requiredRole: 'analyst' },
  { to: '/audit', name: 'Audit', icon: IconClipboardList, requiredRole: 'administrator' },
  { to: '/settings', name: 'Settings', icon: IconSettings, requiredRole: 'viewer' },
];
