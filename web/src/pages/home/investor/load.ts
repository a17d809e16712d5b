// What an investor has, and which templates changed since it was copied from them.
import {
  getPortfolioStatistics,
  listDevicesByUser,
  listPredefinedPortfolios,
  listUserPortfolios,
  paged,
  type PredefinedPortfolio,
  type UserPortfolio,
} from '$lib/api';
import { session } from '$lib/session/session.svelte';

export interface Holdings {
  portfolios: UserPortfolio[];
  templates: PredefinedPortfolio[];
}

export async function loadHoldings(signal: AbortSignal): Promise<Holdings> {
  const [portfolios, { predefinedPortfolios: totals }] = await Promise.all([
    session.isSignedIn ? listUserPortfolios({ path: { userId: session.userId }, signal }) : [],
    getPortfolioStatistics({ signal }),
  ]);
  // The API answers 404 for an empty list.
  const templates = totals.active === 0 ? [] : await listPredefinedPortfolios({ signal });
  return { portfolios: [...portfolios].reverse(), templates };
}

const MAX_DEVICES = 1_000;

export interface DeviceCounts {
  counts: Record<string, number>;
  total: number;
  /** There are more devices than were counted. */
  isPartial: boolean;
}

export async function loadDeviceCounts(signal: AbortSignal): Promise<DeviceCounts> {
  const options = { path: { userId: session.userId }, query: { limit: MAX_DEVICES }, signal };
  const { items, cursor } = await paged((fetch) => listDevicesByUser({ ...options, fetch }));
  const counts: Record<string, number> = {};
  for (const { network } of items) counts[network] = (counts[network] ?? 0) + 1;
  return { counts, total: items.length, isPartial: cursor !== undefined };
}
