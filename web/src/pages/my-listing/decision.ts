// The decisions of a landlord, and the request for one.
import type { DecideApplicationData } from '$lib/api';
import { m } from '$lib/i18n';
import { toLine } from './changes';

export type DecisionBody = DecideApplicationData['body'];
export type DecisionName = DecisionBody['decision'];

export interface DecisionWords {
  name: DecisionName;
  label: () => string;
  /** The message after it. */
  done: (applicant: { name: string }) => string;
  tone: 'primary' | 'plain' | 'danger';
  /** It has to say what it rests on. A check makes it an adverse action (15 U.S.C. 1681m), of which the applicant must be told. */
  isAdverse: boolean;
}

const APPROVE: DecisionWords = {
  name: 'approved',
  label: m.landlord_approve,
  done: m.landlord_approved,
  tone: 'primary',
  isAdverse: false,
};

export const DECISIONS: readonly DecisionWords[] = [
  APPROVE,
  {
    name: 'conditional',
    label: m.landlord_approve_conditions,
    done: m.landlord_approved_conditions,
    tone: 'plain',
    isAdverse: true,
  },
  { name: 'declined', label: m.landlord_decline, done: m.landlord_declined, tone: 'danger', isAdverse: true },
];

export function decisionWords(name: DecisionName): DecisionWords {
  return DECISIONS.find((decision) => decision.name === name) ?? APPROVE;
}

/** What an adverse decision rests on; empty until the landlord has chosen. */
export type Basis = '' | (typeof BASES)[keyof typeof BASES];
export const BASES = { report: 'report', none: 'no_report' } as const;

/** What is missing of the choice, by field. */
export function checkBasis(name: DecisionName, basis: Basis, reasons: readonly string[]): Record<string, string> {
  if (!decisionWords(name).isAdverse || basis === 'no_report') return {};
  if (basis === '') return { basis: m.landlord_decision_basis_missing() };
  return reasons.length > 0 ? {} : { reasons: m.landlord_decision_checks_missing() };
}

/** Adverse decisions alone say what they rest on; an empty note is left out. */
export function toDecision(name: DecisionName, basis: Basis, reasons: readonly string[], note: string): DecisionBody {
  const line = toLine(note);
  const { isAdverse } = decisionWords(name);
  return {
    decision: name,
    ...(isAdverse && basis === 'report' && { reasons: [...reasons] as DecisionBody['reasons'] }),
    ...(isAdverse && basis === 'no_report' && { basis }),
    ...(line !== '' && { note: line }),
  };
}
