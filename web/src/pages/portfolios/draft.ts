// Form values of a portfolio or template, as typed.
import type { ProtocolItem } from '$lib/api';
import type { RiskLevel } from '$lib/format/risk';
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
  if (draft.name.trim() === '') errors.name = 'Give it a name.';
  if (draft.riskLevel === '') errors.riskLevel = 'Choose how much risk it takes.';
  for (const [i, item] of draft.protocolItems.entries()) {
    if (item.protocolName.trim() === '') errors[`protocolItems/${i}/protocolName`] = 'Which protocol?';
    if (item.protocolIdentifier.trim() === '') errors[`protocolItems/${i}/protocolIdentifier`] = 'Its identifier?';
    const { error } = parseShare(item.allocationPercentage);
    if (error) errors[`protocolItems/${i}/allocationPercentage`] = error;
  }
  if (allocatedUnits(draft.protocolItems) > FULL_UNITS) errors.protocolItems = 'Shares add up to more than 100%.';
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
