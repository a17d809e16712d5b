// The five risk levels, lowest first, by their names in the API.
import { m } from '../i18n';

export const RISK_LEVELS = [
  'Conservative',
  'Moderate Conservative',
  'Moderate',
  'Moderate Aggressive',
  'Aggressive',
] as const;

export type RiskLevel = (typeof RISK_LEVELS)[number];

const LABELS: Record<RiskLevel, () => string> = {
  Conservative: m.common_risk_conservative,
  'Moderate Conservative': m.common_risk_moderate_conservative,
  Moderate: m.common_risk_moderate,
  'Moderate Aggressive': m.common_risk_moderate_aggressive,
  Aggressive: m.common_risk_aggressive,
};

/** In the language of the page. */
export function riskLabel(level: string): string {
  return LABELS[level as RiskLevel]?.() ?? level;
}
