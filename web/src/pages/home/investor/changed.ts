// Templates that changed after a portfolio was copied from them.
import type { PredefinedPortfolio, UserPortfolio } from '$lib/api';
import { compareMixes } from '../../compare/mix';

export interface ChangedTemplate {
  template: PredefinedPortfolio;
  portfolio: UserPortfolio;
}

/** Only those whose mix differs: a new description needs nobody's attention. */
export function changedTemplates(
  portfolios: readonly UserPortfolio[],
  templates: readonly PredefinedPortfolio[],
): ChangedTemplate[] {
  return portfolios.flatMap((portfolio) => {
    const template = templates.find((one) => one.predefinedPortfolioId === portfolio.basedOnPredefinedId);
    if (!template || Date.parse(template.updatedAt) <= Date.parse(portfolio.updatedAt)) return [];
    const rows = compareMixes([portfolio.protocolItems, template.protocolItems]);
    return rows.some(({ differs }) => differs) ? [{ template, portfolio }] : [];
  });
}
