// Loads, copies, activates and deactivates templates.
import {
  changePredefinedPortfolio,
  createUserPortfolio,
  deactivatePredefinedPortfolio,
  deleteUserPortfolio,
  getPortfolioStatistics,
  listPredefinedPortfolios,
  listUserPortfolios,
  type PredefinedPortfolio,
} from '$lib/api';
import { m } from '$lib/i18n';
import { href, router } from '$lib/router/router.svelte';
import { session } from '$lib/session/session.svelte';
import { toasts } from '$lib/state/toasts.svelte';
import { freeName } from './names';
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

/** A name for a copy that none of the user's portfolios has. */
export async function nameOfCopy(template: PredefinedPortfolio, signal?: AbortSignal): Promise<string> {
  const own = await listUserPortfolios({ path: { userId: session.userId }, signal });
  return freeName(
    template.name,
    own.flatMap(({ name }) => name ?? []),
  );
}

/** Copies a template to the user's portfolios. */
export async function copy(template: PredefinedPortfolio): Promise<void> {
  if (!session.isSignedIn && !(await session.promptSignIn('requested'))) return;
  try {
    const name = await nameOfCopy(template);
    const { description, riskLevel, protocolItems, predefinedPortfolioId: basedOnPredefinedId } = template;
    const { userPortfolioId } = await createUserPortfolio({
      body: {
        userId: session.userId,
        name,
        description,
        riskLevel,
        protocolItems,
        basedOnPredefinedId,
        isCustom: false,
      },
    });
    toasts.success(m.portfolios_copied({ name }), async () => {
      await deleteUserPortfolio({ path: { portfolioId: userPortfolioId } });
      copies.undone += 1;
      if (router.path.endsWith(userPortfolioId)) router.navigate(href('/portfolios'));
    });
  } catch (error) {
    toasts.error(error);
  }
}

/** Opens a copy in the editor. Nothing is stored before it is saved. */
export async function customize(template: PredefinedPortfolio): Promise<void> {
  if (!session.isSignedIn && !(await session.promptSignIn('requested'))) return;
  router.navigate(href('/portfolios/new', {}, { from: template.predefinedPortfolioId }));
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
    const { name } = template;
    const message = isActive ? m.portfolios_offered_again({ name }) : m.portfolios_no_longer_offered({ name });
    toasts.success(message, async () => {
      await setActive(template, !isActive);
      changed();
    });
  } catch (error) {
    toasts.error(error);
  }
}
