// What the command palette offers: pages, actions, and what the text can name on the chain.
import Box from '@lucide/svelte/icons/box';
import House from '@lucide/svelte/icons/house';
import Plus from '@lucide/svelte/icons/plus';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Wallet from '@lucide/svelte/icons/wallet';
import Zap from '@lucide/svelte/icons/zap';
import type { Component } from 'svelte';
import { routes } from '../../routes';
import { pageOf, pageOfListingRecord } from '../chain/find';
import { readQuery, type ChainQuery } from '../chain/query';
import { m } from '../i18n';
import { href } from '../router/router.svelte';

export interface Entry {
  id: string;
  group: 'found' | 'pages' | 'actions';
  label: string;
  icon: Component<{ size?: number; 'aria-hidden'?: 'true' }>;
  /** Further words by which it is found. */
  words?: string;
  /** Where it leads. */
  href?: string;
  /** What it does instead; a page that it returns is opened. */
  run?: () => unknown;
}

export interface PaletteActions {
  toggleTheme: () => void;
  showShortcuts: () => void;
}

const action = (id: string, label: string, icon: Entry['icon'], more: Partial<Entry>): Entry => ({
  id,
  group: 'actions',
  label,
  icon,
  ...more,
});

/** Pages of the navigation, and actions. */
export function fixedEntries({ toggleTheme, showShortcuts }: PaletteActions): Entry[] {
  const pages = routes.flatMap(({ path, nav }): Entry[] =>
    nav ? [{ id: path, group: 'pages', label: nav.label, icon: nav.icon, words: path, href: href(path) }] : [],
  );
  return [
    ...pages,
    action('list-home', m.developer_action_list_home(), Plus, { href: href('/my-listings/new') }),
    action('new-portfolio', m.developer_action_new_portfolio(), Plus, { href: href('/portfolios/new') }),
    action('compare', m.developer_action_compare(), Zap, { href: href('/portfolios/compare') }),
    action('import-devices', m.developer_action_import_devices(), Zap, { words: 'csv', href: href('/devices/import') }),
    action('try-api', m.developer_action_try_api(), Zap, {
      words: 'curl',
      href: href('/api', {}, { tab: 'operations' }),
    }),
    action('theme', m.developer_action_theme(), Zap, { words: 'dark light', run: toggleTheme }),
    action('shortcuts', m.developer_action_shortcuts(), Zap, { words: '?', run: showShortcuts }),
  ];
}

/** Entries whose words all begin with a word of the query; those of the label first. */
export function matchEntries(entries: readonly Entry[], query: string): Entry[] {
  const wanted = splitWords(query);
  if (wanted.length === 0) return [...entries];
  const matches = (text: string) => {
    const words = splitWords(text);
    return wanted.every((one) => words.some((word) => word.startsWith(one)));
  };
  const byLabel = entries.filter(({ label }) => matches(label));
  const byWords = entries.filter((one) => !byLabel.includes(one) && matches(`${one.label} ${one.words ?? ''}`));
  return [...byLabel, ...byWords];
}

/** Lower case, without accents. */
function splitWords(text: string): string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.split(/[^\p{L}\p{N}?]+/u).filter(Boolean);
}

/** What the text can name: a transaction, an address, a block, or a listing. */
export function chainEntries(query: string): Entry[] {
  return readQuery(query).flatMap(toEntries);
}

function toEntries(query: ChainQuery): Entry[] {
  if (query.kind === 'listing') {
    const { id } = query;
    return [
      {
        id: 'listing',
        group: 'found',
        label: m.developer_open_listing({ id }),
        icon: House,
        href: href('/listings/:id', { id }),
      },
      {
        id: 'listing-record',
        group: 'found',
        label: m.developer_open_listing_record({ id }),
        icon: ScrollText,
        run: () => pageOfListingRecord(id),
      },
    ];
  }
  const label = {
    hash: m.developer_open_transaction,
    address: m.developer_open_address,
    block: m.developer_open_block,
  }[query.kind]();
  const icon = { hash: ScrollText, address: Wallet, block: Box }[query.kind];
  return [{ id: query.kind, group: 'found', label, icon, href: pageOf(query) }];
}
