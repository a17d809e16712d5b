// All routes of the console. A page is a folder under pages/ and is loaded lazily.
import ChartPie from '@lucide/svelte/icons/chart-pie';
import Blocks from '@lucide/svelte/icons/blocks';
import Bookmark from '@lucide/svelte/icons/bookmark';
import Code from '@lucide/svelte/icons/code-xml';
import FileCheck from '@lucide/svelte/icons/file-check';
import House from '@lucide/svelte/icons/house';
import KeyRound from '@lucide/svelte/icons/key-round';
import LayoutDashboard from '@lucide/svelte/icons/layout-dashboard';
import RadioTower from '@lucide/svelte/icons/radio-tower';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import type { Component } from 'svelte';
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
    bottomBar?: boolean;
  };
}

export const GROUPS = ['', 'Homes', 'Networks', 'System'] as const;
export type Group = (typeof GROUPS)[number];

const page = (load: () => Promise<unknown>) => load as Route['load'];

export const routes: readonly Route[] = [
  {
    path: '/',
    load: page(() => import('./pages/overview/index.svelte')),
    nav: { label: 'Overview', group: '', icon: LayoutDashboard, bottomBar: true },
  },
  {
    path: '/listings',
    load: page(() => import('./pages/listings/index.svelte')),
    nav: { label: 'Listings', group: 'Homes', icon: House, bottomBar: true },
  },
  { path: '/listings/:id', load: page(() => import('./pages/listing/index.svelte')) },
  {
    path: '/my-listings',
    load: page(() => import('./pages/my-listings/index.svelte')),
    requiresUser: true,
    nav: { label: 'My listings', group: 'Homes', icon: KeyRound },
  },
  { path: '/my-listings/new', load: page(() => import('./pages/my-listings/new.svelte')), requiresUser: true },
  { path: '/my-listings/:id', load: page(() => import('./pages/my-listing/index.svelte')), requiresUser: true },
  { path: '/my-listings/:id/edit', load: page(() => import('./pages/my-listing/edit.svelte')), requiresUser: true },
  {
    path: '/saved',
    load: page(() => import('./pages/saved/index.svelte')),
    requiresUser: true,
    nav: { label: 'Saved', group: 'Homes', icon: Bookmark, bottomBar: true },
  },
  {
    path: '/applications',
    load: page(() => import('./pages/applications/index.svelte')),
    requiresUser: true,
    nav: { label: 'Applications', group: 'Homes', icon: FileCheck },
  },
  { path: '/applications/:id', load: page(() => import('./pages/application/index.svelte')), requiresUser: true },
  {
    path: '/screening',
    load: page(() => import('./pages/screening/index.svelte')),
    requiresUser: true,
    nav: { label: 'Screening', group: 'Homes', icon: ShieldCheck },
  },
  {
    path: '/screening/results/:id',
    load: page(() => import('./pages/screening/result/index.svelte')),
    requiresUser: true,
  },
  {
    path: '/portfolios',
    load: page(() => import('./pages/portfolios/index.svelte')),
    nav: { label: 'Portfolios', group: 'Networks', icon: ChartPie, bottomBar: true },
  },
  { path: '/portfolios/new', load: page(() => import('./pages/portfolio/index.svelte')), requiresUser: true },
  { path: '/portfolios/templates/new', load: page(() => import('./pages/template/index.svelte')), requiresUser: true },
  { path: '/portfolios/templates/:id', load: page(() => import('./pages/template/index.svelte')) },
  { path: '/portfolios/:id', load: page(() => import('./pages/portfolio/index.svelte')), requiresUser: true },
  {
    path: '/devices',
    load: page(() => import('./pages/devices/index.svelte')),
    requiresUser: true,
    nav: { label: 'Devices', group: 'Networks', icon: RadioTower },
  },
  { path: '/devices/import', load: page(() => import('./pages/devices-import/index.svelte')), requiresUser: true },
  {
    path: '/chain',
    load: page(() => import('./pages/chain/index.svelte')),
    nav: { label: 'Chain', group: 'System', icon: Blocks },
  },
  { path: '/chain/blocks/:number', load: page(() => import('./pages/chain/block/index.svelte')) },
  { path: '/chain/transactions/:hash', load: page(() => import('./pages/chain/transaction/index.svelte')) },
  {
    path: '/api',
    load: page(() => import('./pages/api/index.svelte')),
    nav: { label: 'API', group: 'System', icon: Code },
  },
  // Gallery of all components for developers; not in the navigation.
  { path: '/kit', load: page(() => import('./pages/kit/index.svelte')) },
];

export const notFound: Route = { path: '*', load: page(() => import('./pages/not-found/index.svelte')) };
