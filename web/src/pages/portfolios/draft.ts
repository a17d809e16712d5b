// Form values of a portfolio or template, as typed.
import type { ProtocolItem } from '$lib/api';
import type { RiskLevel } from '$lib/format/risk';
import { numberOf, parseShare, textOf, unitsOf, WHOLE } from './shares';

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

export interface Written {
  name: string;
  description: string;
  riskLevel: RiskLevel;
  protocolItems: ProtocolItem[];
}

interface Source {
  name?: string;
  description?: string;
  riskLevel: string;
  protocolItems: ProtocolItem[];
}

export function newItem(item: Partial<DraftItem> = {}): DraftItem {
  return { protocolName: '', protocolIdentifier: '', allocationPercentage: '', ...item, key: crypto.randomUUID() };
}

export function draftOf(source?: Source): Draft {
  return {
    name: source?.name ?? '',
    description: source?.description ?? '',
    riskLevel: source?.riskLevel ?? '',
    protocolItems: (source?.protocolItems ?? []).map((item) =>
      newItem({ ...item, allocationPercentage: textOf(unitsOf(item.allocationPercentage)) }),
    ),
  };
}

/** Sum of the shares in units; invalid shares count as zero. */
export function allocated(items: readonly DraftItem[]): number {
  return items.reduce((sum, item) => sum + (parseShare(item.allocationPercentage).units ?? 0), 0);
}

/** Returns all errors by API field name. */
export function checkDraft(draft: Draft): Record<string, string> {
  const faults: Record<string, string> = {};
  if (draft.name.trim() === '') faults.name = 'Give it a name.';
  if (draft.riskLevel === '') faults.riskLevel = 'Choose how much risk it takes.';
  for (const [i, item] of draft.protocolItems.entries()) {
    if (item.protocolName.trim() === '') faults[`protocolItems/${i}/protocolName`] = 'Which protocol?';
    if (item.protocolIdentifier.trim() === '') faults[`protocolItems/${i}/protocolIdentifier`] = 'Its identifier?';
    const { fault } = parseShare(item.allocationPercentage);
    if (fault) faults[`protocolItems/${i}/allocationPercentage`] = fault;
  }
  if (allocated(draft.protocolItems) > WHOLE) faults.protocolItems = 'Shares add up to more than 100%.';
  return faults;
}

export function bodyOf(draft: Draft): Written {
  return {
    name: draft.name,
    // The API accepts a single line.
    description: draft.description.replace(/\s*[\r\n]+\s*/g, ' ').trim(),
    riskLevel: draft.riskLevel as RiskLevel,
    protocolItems: draft.protocolItems.map(({ protocolName, protocolIdentifier, allocationPercentage }) => ({
      protocolName,
      protocolIdentifier,
      allocationPercentage: numberOf(parseShare(allocationPercentage).units ?? 0),
    })),
  };
}
