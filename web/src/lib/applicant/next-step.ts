// What an applicant still needs, and what to do next. Pure functions.
import type { ApplicationCheckState } from '../api';
import { checksToRun } from '../listings/checks';
import type { OwnApplication, Search } from './search';

export interface MissingCheck {
  check: ApplicationCheckState['check'];
  /** `missing` or `expired`; missing for one home is missing. */
  status: ApplicationCheckState['status'];
  /** The open applications that need it. */
  applications: OwnApplication[];
}

export type NextStep =
  | { kind: 'approved'; application: OwnApplication }
  | { kind: 'verify'; application: OwnApplication; checks: string[] }
  | { kind: 'wait'; count: number }
  | { kind: 'apply-for-saved'; id: string; home: string }
  | { kind: 'find' };

export function missingChecks(applications: readonly OwnApplication[]): MissingCheck[] {
  const missing = new Map<string, MissingCheck>();
  for (const application of applications.filter(isOpen)) {
    for (const { check, status } of checksToRun(application.whole?.checks ?? [])) {
      const found = missing.get(check);
      if (!found) missing.set(check, { check, status, applications: [application] });
      else {
        found.applications.push(application);
        if (status === 'missing') found.status = status;
      }
    }
  }
  return [...missing.values()];
}

/** The one thing to do now. An approval comes first, then what only the applicant can do. */
export function nextStep({ applications, saved }: Search): NextStep {
  const approved = applications.find(({ whole }) => whole?.status === 'approved' || whole?.status === 'conditional');
  if (approved) return { kind: 'approved', application: approved };
  const open = applications.filter(isOpen);
  const incomplete = open.find(({ whole }) => checksToRun(whole?.checks ?? []).length > 0);
  if (incomplete) {
    const checks = checksToRun(incomplete.whole?.checks ?? []).map(({ check }) => check);
    return { kind: 'verify', application: incomplete, checks };
  }
  if (open.length > 0) return { kind: 'wait', count: open.length };
  const applied = new Set(applications.map(({ summary }) => summary.listingId));
  const next = saved.find(({ id }) => !applied.has(id));
  return next ? { kind: 'apply-for-saved', id: next.id, home: next.street } : { kind: 'find' };
}

function isOpen({ whole }: OwnApplication): boolean {
  return whole?.status === 'submitted';
}
