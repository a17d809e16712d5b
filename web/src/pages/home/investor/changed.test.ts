import { expect, test } from 'vitest';
import { changedTemplates } from './changed';

const items = (share: number) => [{ protocolName: 'Helium', protocolIdentifier: 'hnt', allocationPercentage: share }];
const template = (share: number, updatedAt: string) => ({
  predefinedPortfolioId: 't',
  name: 'T',
  riskLevel: 'Moderate' as const,
  protocolItems: items(share),
  totalAllocation: share,
  isActive: true,
  createdAt: updatedAt,
  updatedAt,
});
const copy = (share: number, basedOnPredefinedId = 't') => ({
  userPortfolioId: 'p',
  userId: 'u',
  riskLevel: 'Moderate' as const,
  protocolItems: items(share),
  totalAllocation: share,
  isCustom: false,
  createdAt: '2026-01-02T00:00:00Z',
  updatedAt: '2026-01-02T00:00:00Z',
  basedOnPredefinedId,
});
const names = (...args: Parameters<typeof changedTemplates>) =>
  changedTemplates(...args).map((one) => one.template.name);

test('a template counts if its mix changed after the copy was made', () => {
  expect(names([copy(50)], [template(60, '2026-01-03T00:00:00Z')])).toEqual(['T']);
  expect(names([copy(50)], [template(60, '2026-01-01T00:00:00Z')])).toEqual([]);
  expect(names([copy(50)], [template(50, '2026-01-03T00:00:00Z')])).toEqual([]);
  expect(names([copy(50, 'other')], [template(60, '2026-01-03T00:00:00Z')])).toEqual([]);
});
