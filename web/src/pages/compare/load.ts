// Finds what is compared: the user's own portfolios and templates.
import {
  getPortfolioStatistics,
  getPredefinedPortfolio,
  listPredefinedPortfolios,
  listUserPortfolios,
  type PredefinedPortfolio,
  type UserPortfolio,
} from '$lib/api';
import { m } from '$lib/i18n';
import { href } from '$lib/router/router.svelte';
import { session } from '$lib/session/session.svelte';
import type { Compared } from './mix';

export interface Comparison {
  compared: Compared[];
  /** How many ids name nothing that the user can see. */
  missing: number;
  /** What else can be compared. */
  others: Compared[];
}

function fromTemplate(template: PredefinedPortfolio): Compared {
  const { predefinedPortfolioId: id, name, riskLevel, protocolItems: items, updatedAt } = template;
  return { id, name, kind: 'template', href: href('/portfolios/templates/:id', { id }), riskLevel, items, updatedAt };
}

function fromPortfolio(portfolio: UserPortfolio): Compared {
  const { userPortfolioId: id, riskLevel, protocolItems: items, updatedAt, basedOnPredefinedId } = portfolio;
  return {
    id,
    name: portfolio.name ?? m.investor_untitled(),
    kind: 'portfolio',
    href: href('/portfolios/:id', { id }),
    riskLevel,
    items,
    updatedAt,
    templateId: basedOnPredefinedId,
  };
}

/** Portfolios of the user, newest first, then the templates on offer. */
async function loadKnown(signal: AbortSignal): Promise<Compared[]> {
  const [own, { predefinedPortfolios: totals }] = await Promise.all([
    session.isSignedIn ? listUserPortfolios({ path: { userId: session.userId }, signal }) : [],
    getPortfolioStatistics({ signal }),
  ]);
  // The API answers 404 for an empty list.
  const templates = totals.active === 0 ? [] : await listPredefinedPortfolios({ signal });
  return [...[...own].reverse().map(fromPortfolio), ...templates.map(fromTemplate)];
}

export async function loadComparison(ids: readonly string[], signal: AbortSignal): Promise<Comparison> {
  const known = await loadKnown(signal);
  const found = await Promise.all(
    ids.map(async (id) => {
      const one = known.find((other) => other.id === id);
      if (one) return one;
      // A template that is no longer offered is still compared with its copies.
      const template = await getPredefinedPortfolio({ path: { portfolioId: id }, signal }).catch(() => undefined);
      return template && fromTemplate(template);
    }),
  );
  const compared = found.filter((one) => one !== undefined);
  return {
    compared,
    missing: ids.length - compared.length,
    others: known.filter(({ id }) => !ids.includes(id)),
  };
}
