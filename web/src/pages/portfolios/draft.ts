// Form values of a portfolio or template, as typed.
import type { ProtocolItem } from '$lib/api';
import { percent } from '$lib/format';
import type { RiskLevel } from '$lib/format/risk';
import { m } from '$lib/i18n';
import { toPercent, parseShare, formatUnits, toUnits, FULL_UNITS } from './shares';

export interface DraftItem {
  /** Stable key of the row. */
  key: string;
  protocolName: string;
  protocolIdentifier: string;
  allocationPercentage: string;
}

export interface Draft {
  name: string;
  description: string;
  riskLevel: string;
  protocolItems: DraftItem[];
}

export interface PortfolioBody {
  name: string;
  description: string;
  riskLevel: RiskLevel;
  protocolItems: ProtocolItem[];
}

interface DraftSource {
  name?: string;
  description?: string;
  riskLevel: string;
  protocolItems: ProtocolItem[];
}

export function newItem(item: Partial<DraftItem> = {}): DraftItem {
  return { protocolName: '', protocolIdentifier: '', allocationPercentage: '', ...item, key: crypto.randomUUID() };
}

export function toDraft(source?: DraftSource): Draft {
  return {
    name: source?.name ?? '',
    description: source?.description ?? '',
    riskLevel: source?.riskLevel ?? '',
    protocolItems: (source?.protocolItems ?? []).map((item) =>
      newItem({ ...item, allocationPercentage: formatUnits(toUnits(item.allocationPercentage)) }),
    ),
  };
}

/** Sum of the shares in units; invalid shares count as zero. */
export function allocatedUnits(items: readonly DraftItem[]): number {
  return items.reduce((sum, item) => sum + (parseShare(item.allocationPercentage).units ?? 0), 0);
}

/** Returns all errors by API field name. */
export function validateDraft(draft: Draft): Record<string, string> {
  const errors: Record<string, string> = {};
  if (draft.name.trim() === '') errors.name = m.portfolios_name_missing();
  if (draft.riskLevel === '') errors.riskLevel = m.portfolios_risk_missing();
  for (const [i, item] of draft.protocolItems.entries()) {
    if (item.protocolName.trim() === '') errors[`protocolItems/${i}/protocolName`] = m.portfolios_protocol_missing();
    if (item.protocolIdentifier.trim() === '')
      errors[`protocolItems/${i}/protocolIdentifier`] = m.portfolios_identifier_missing();
    const { error } = parseShare(item.allocationPercentage);
    if (error) errors[`protocolItems/${i}/allocationPercentage`] = error;
  }
  if (allocatedUnits(draft.protocolItems) > FULL_UNITS)
    errors.protocolItems = m.portfolios_shares_too_much({ full: percent(100) });
  return errors;
}

export function toPortfolioBody(draft: Draft): PortfolioBody {
  return {
    name: draft.name,
    // The API accepts a single line.
    description: draft.description.replace(/\s*[\r\n]+\s*/g, ' ').trim(),
    riskLevel: draft.riskLevel as RiskLevel,
    protocolItems: draft.protocolItems.map(({ protocolName, protocolIdentifier, allocationPercentage }) => ({
      protocolName,
      protocolIdentifier,
      allocationPercentage: toPercent(parseShare(allocationPercentage).units ?? 0),
    })),
  };
}
