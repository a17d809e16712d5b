// All routes of the console. A page is a folder under pages/ and is loaded lazily.
import ChartPie from '@lucide/svelte/icons/chart-pie';
import Blocks from '@lucide/svelte/icons/blocks';
import Bookmark from '@lucide/svelte/icons/bookmark';
import Code from '@lucide/svelte/icons/code-xml';
import DoorOpen from '@lucide/svelte/icons/door-open';
import FileCheck from '@lucide/svelte/icons/file-check';
import House from '@lucide/svelte/icons/house';
import KeyRound from '@lucide/svelte/icons/key-round';
import LayoutDashboard from '@lucide/svelte/icons/layout-dashboard';
import KeySquare from '@lucide/svelte/icons/key-square';
import RadioTower from '@lucide/svelte/icons/radio-tower';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import UserSearch from '@lucide/svelte/icons/user-search';
import type { Component } from 'svelte';
import { m } from './lib/i18n';
import type { Params } from './lib/router/match';

export type PageComponent = Component<{ params: Params }>;

export interface Route {
  path: string;
  load: () => Promise<{ default: PageComponent }>;
  /** Requires a signed-in user. */
  requiresUser?: boolean;
  /** Navigation entry; pages without one are reached from other pages. */
  nav?: {
    label: string;
    group: Group;
    icon: Component<{ size?: number; 'aria-hidden'?: 'true' }>;
    /** Shown to operators alone. */
    forOperators?: boolean;
  };
}

export const GROUPS = [
  { id: 'main', label: '' },
  { id: 'homes', label: m.shell_group_homes() },
  { id: 'networks', label: m.shell_group_networks() },
  { id: 'system', label: m.shell_group_system() },
  { id: 'operation', label: m.operator_nav_group() },
] as const;
export type Group = (typeof GROUPS)[number]['id'];

const page = (load: () => Promise<unknown>) => load as Route['load'];

export const routes: readonly Route[] = [
  {
    path: '/',
    load: page(() => import('./pages/home/index.svelte')),
    nav: { label: m.home_nav_home(), group: 'main', icon: DoorOpen },
  },
  {
    path: '/listings',
    load: page(() => import('./pages/listings/index.svelte')),
    nav: { label: m.shell_nav_listings(), group: 'homes', icon: House },
  },
  { path: '/listings/:id', load: page(() => import('./pages/listing/index.svelte')) },
  {
    path: '/my-listings',
    load: page(() => import('./pages/my-listings/index.svelte')),
    requiresUser: true,
    nav: { label: m.shell_nav_my_listings(), group: 'homes', icon: KeyRound },
  },
  { path: '/my-listings/new', load: page(() => import('./pages/my-listings/new.svelte')), requiresUser: true },
  { path: '/my-listings/:id', load: page(() => import('./pages/my-listing/index.svelte')), requiresUser: true },
  { path: '/my-listings/:id/edit', load: page(() => import('./pages/my-listing/edit.svelte')), requiresUser: true },
  {
    path: '/saved',
    load: page(() => import('./pages/saved/index.svelte')),
    requiresUser: true,
    nav: { label: m.shell_nav_saved(), group: 'homes', icon: Bookmark },
  },
  {
    path: '/applications',
    load: page(() => import('./pages/applications/index.svelte')),
    requiresUser: true,
    nav: { label: m.shell_nav_applications(), group: 'homes', icon: FileCheck },
  },
  { path: '/applications/:id', load: page(() => import('./pages/application/index.svelte')), requiresUser: true },
  {
    path: '/screening',
    load: page(() => import('./pages/screening/index.svelte')),
    requiresUser: true,
    nav: { label: m.shell_nav_screening(), group: 'homes', icon: ShieldCheck },
  },
  {
    path: '/screening/results/:id',
    load: page(() => import('./pages/screening/result/index.svelte')),
    requiresUser: true,
  },
  {
    path: '/portfolios',
    load: page(() => import('./pages/portfolios/index.svelte')),
    nav: { label: m.shell_nav_portfolios(), group: 'networks', icon: ChartPie },
  },
  { path: '/portfolios/compare', load: page(() => import('./pages/compare/index.svelte')) },
  { path: '/portfolios/new', load: page(() => import('./pages/portfolio/index.svelte')), requiresUser: true },
  { path: '/portfolios/templates/new', load: page(() => import('./pages/template/index.svelte')), requiresUser: true },
  { path: '/portfolios/templates/:id', load: page(() => import('./pages/template/index.svelte')) },
  { path: '/portfolios/:id', load: page(() => import('./pages/portfolio/index.svelte')), requiresUser: true },
  {
    path: '/devices',
    load: page(() => import('./pages/devices/index.svelte')),
    requiresUser: true,
    nav: { label: m.shell_nav_devices(), group: 'networks', icon: RadioTower },
  },
  { path: '/devices/import', load: page(() => import('./pages/devices-import/index.svelte')), requiresUser: true },
  { path: '/my-data', load: page(() => import('./pages/my-data/index.svelte')), requiresUser: true },
  {
    path: '/overview',
    load: page(() => import('./pages/overview/index.svelte')),
    nav: { label: m.shell_nav_overview(), group: 'system', icon: LayoutDashboard },
  },
  {
    path: '/chain',
    load: page(() => import('./pages/chain/index.svelte')),
    nav: { label: m.shell_nav_chain(), group: 'system', icon: Blocks },
  },
  { path: '/chain/blocks/:number', load: page(() => import('./pages/chain/block/index.svelte')) },
  { path: '/chain/transactions/:hash', load: page(() => import('./pages/chain/transaction/index.svelte')) },
  { path: '/chain/addresses/:address', load: page(() => import('./pages/chain/address/index.svelte')) },
  {
    path: '/api',
    load: page(() => import('./pages/api/index.svelte')),
    nav: { label: m.shell_nav_api(), group: 'system', icon: Code },
  },
  {
    path: '/operator/audit',
    load: page(() => import('./pages/operator/audit/index.svelte')),
    requiresUser: true,
    nav: { label: m.operator_nav_audit(), group: 'operation', icon: ScrollText, forOperators: true },
  },
  {
    path: '/operator/users',
    load: page(() => import('./pages/operator/users/index.svelte')),
    requiresUser: true,
    nav: { label: m.operator_nav_users(), group: 'operation', icon: UserSearch, forOperators: true },
  },
  {
    path: '/operator/keys',
    load: page(() => import('./pages/operator/keys/index.svelte')),
    requiresUser: true,
    nav: { label: m.operator_nav_keys(), group: 'operation', icon: KeySquare, forOperators: true },
  },
  {
    path: '/operator/configuration',
    load: page(() => import('./pages/operator/configuration/index.svelte')),
    requiresUser: true,
    nav: { label: m.operator_nav_configuration(), group: 'operation', icon: SlidersHorizontal, forOperators: true },
  },
  // Gallery of all components for developers; not in the navigation.
  { path: '/kit', load: page(() => import('./pages/kit/index.svelte')) },
];

export const notFound: Route = { path: '*', load: page(() => import('./pages/not-found/index.svelte')) };

/** The pages in the navigation. */
export function navigationFor(isOperator: boolean): Route[] {
  return routes.filter(({ nav }) => nav && (!nav.forOperators || isOperator));
}
