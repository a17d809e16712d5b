// The edits of a portfolio in words.
import type { FieldChange, ProtocolItem } from '$lib/api';
import { percent } from '$lib/format';
import type { FieldChangeWords } from '$lib/format/changes';
import { riskLabel } from '$lib/format/risk';
import { m } from '$lib/i18n';
import { compareMixes } from '../compare/mix';

const LABELS: Record<string, () => string> = {
  name: m.portfolios_name,
  description: m.portfolios_description,
  riskLevel: m.portfolios_risk,
};

/** One line per field; of the protocols, one per network whose share differs. */
export function changeWords({ field, before, after }: FieldChange): FieldChangeWords[] {
  if (field === 'protocolItems') return mixWords(before as ProtocolItem[], after as ProtocolItem[]);
  const show = (value: unknown) => (field === 'riskLevel' ? riskLabel(String(value)) : toText(value));
  return [{ label: LABELS[field]?.() ?? field, before: show(before), after: show(after) }];
}

/** Empty if only the order or an identifier changed. */
function mixWords(before: ProtocolItem[], after: ProtocolItem[]): FieldChangeWords[] {
  const share = (of: number | undefined) => (of === undefined ? m.investor_difference_none() : percent(of));
  return compareMixes([before, after])
    .filter(({ differs }) => differs)
    .map(({ name, cells: [old, now] }) => ({ label: name, before: share(old?.share), after: share(now?.share) }));
}

function toText(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : m.investor_difference_none();
}
