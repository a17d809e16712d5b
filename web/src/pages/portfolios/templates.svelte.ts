// Loads, copies, activates and deactivates templates.
import {
  changePredefinedPortfolio,
  copyPredefinedPortfolio,
  deactivatePredefinedPortfolio,
  deleteUserPortfolio,
  getPortfolioStatistics,
  listPredefinedPortfolios,
  type PredefinedPortfolio,
} from '$lib/api';
import { href, router } from '$lib/router/router.svelte';
import { session } from '$lib/session/session.svelte';
import { toasts } from '$lib/state/toasts.svelte';
import { seenTemplates } from './seen-templates';

export interface Templates {
  active: PredefinedPortfolio[];
  /** Number of inactive templates. */
  inactive: number;
}

/** Incremented when a copy is undone, so that the list of portfolios reloads. */
export const copies = $state({ undone: 0 });

export async function loadTemplates(signal: AbortSignal): Promise<Templates> {
  // The API answers 404 for an empty list, so check the totals first.
  const { predefinedPortfolios: totals } = await getPortfolioStatistics({ signal });
  const active = totals.active === 0 ? [] : await listPredefinedPortfolios({ signal });
  if (session.isOperator) seenTemplates.add(active.map((template) => template.predefinedPortfolioId));
  return { active, inactive: totals.total - totals.active };
}

/** Copies a template to the user's portfolios; `customize` opens the copy in the editor. */
export async function copy(template: PredefinedPortfolio, customize: boolean): Promise<void> {
  if (!session.isSignedIn && !(await session.promptSignIn('requested'))) return;
  try {
    const { userPortfolioId } = await copyPredefinedPortfolio({
      path: { predefinedPortfolioId: template.predefinedPortfolioId },
      body: { userId: session.userId, customize },
    });
    if (customize) router.navigate(href('/portfolios/:id', { id: userPortfolioId }));
    const done = customize ? 'Copied. Make it your own.' : `“${template.name}” is in your portfolios.`;
    toasts.success(done, async () => {
      await deleteUserPortfolio({ path: { portfolioId: userPortfolioId } });
      copies.undone += 1;
      if (router.path.endsWith(userPortfolioId)) router.navigate(href('/portfolios'));
    });
  } catch (error) {
    toasts.error(error);
  }
}

export async function setActive(template: PredefinedPortfolio, isActive: boolean): Promise<void> {
  const path = { portfolioId: template.predefinedPortfolioId };
  if (isActive) await changePredefinedPortfolio({ path, body: { isActive } });
  else await deactivatePredefinedPortfolio({ path });
  seenTemplates.add([path.portfolioId]);
}

/** Activates or deactivates a template, with undo. `changed` is called after each change. */
export async function setActiveWithUndo(
  template: PredefinedPortfolio,
  isActive: boolean,
  changed: () => void,
): Promise<void> {
  try {
    await setActive(template, isActive);
    changed();
    toasts.success(`“${template.name}” is ${isActive ? 'offered again' : 'no longer offered'}.`, async () => {
      await setActive(template, !isActive);
      changed();
    });
  } catch (error) {
    toasts.error(error);
  }
}
