// The five risk levels, lowest first.
export const RISK_LEVELS = [
  'Conservative',
  'Moderate Conservative',
  'Moderate',
  'Moderate Aggressive',
  'Aggressive',
] as const;

export type RiskLevel = (typeof RISK_LEVELS)[number];
