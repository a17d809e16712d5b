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
  /** A reason makes it an adverse action (15 U.S.C. 1681m), of which the applicant must be told. */
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

/** Reasons belong to adverse decisions alone; an empty note is left out. */
export function toDecision(name: DecisionName, reasons: readonly string[], note: string): DecisionBody {
  const line = toLine(note);
  return {
    decision: name,
    ...(decisionWords(name).isAdverse && { reasons: [...reasons] as DecisionBody['reasons'] }),
    ...(line !== '' && { note: line }),
  };
}
