// What the five risk levels mean, in words.
import type { RiskLevel } from '../format/risk';
import { m } from '../i18n';

const MEANINGS: Record<RiskLevel, () => string> = {
  Conservative: m.investor_risk_conservative,
  'Moderate Conservative': m.investor_risk_moderate_conservative,
  Moderate: m.investor_risk_moderate,
  'Moderate Aggressive': m.investor_risk_moderate_aggressive,
  Aggressive: m.investor_risk_aggressive,
};

export function riskMeaning(level: string): string {
  return MEANINGS[level as RiskLevel]?.() ?? '';
}
