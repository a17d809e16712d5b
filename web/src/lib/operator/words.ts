// Words for what operators see.
import { ago } from '../format';
import { m } from '../i18n';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info';

/** What comes from the service may have the name of what every object has, such as `constructor`. */
function find<T>(words: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

const CONTRACTS: Record<string, () => string> = {
  ListingRegistry: m.operator_contract_listings,
  IdentityToken: m.operator_contract_identities,
  ApplicationChecks: m.operator_contract_checks,
  AuditAnchor: m.operator_contract_anchor,
};

/** What a contract holds. A transaction without a contract only takes up a nonce. */
export function contractWords(contract: string | undefined): string {
  return contract === undefined ? m.operator_contract_none() : (find(CONTRACTS, contract)?.() ?? contract);
}

export const CHECKS: Record<string, () => string> = {
  eviction: m.operator_check_eviction,
  income: m.operator_check_income,
  softCredit: m.operator_check_credit,
  criminalBackground: m.operator_check_criminal,
};

export const CIRCUITS: Record<string, { label: () => string; tone: Tone }> = {
  closed: { label: m.operator_circuit_closed, tone: 'good' },
  open: { label: m.operator_circuit_open, tone: 'bad' },
  half_open: { label: m.operator_circuit_half_open, tone: 'warn' },
};

export const FAILURES: Record<string, () => string> = {
  unavailable: m.operator_failure_unavailable,
  too_slow: m.operator_failure_too_slow,
  broken: m.operator_failure_broken,
};

export const SOURCES: Record<string, () => string> = {
  default: m.operator_source_default,
  flag: m.operator_source_flag,
  environment: m.operator_source_environment,
  file: m.operator_source_file,
  secret_file: m.operator_source_secret_file,
};

const FAULTS: Record<string, (of: { entry: string }) => string> = {
  gap: m.operator_fault_gap,
  keyed_too_late: m.operator_fault_keyed_too_late,
  other_end: m.operator_fault_other_end,
  nothing_keyed: () => m.operator_fault_nothing_keyed(),
  altered: m.operator_fault_altered,
  anchor_missing: () => m.operator_fault_anchor_missing(),
  never_anchored: () => m.operator_fault_never_anchored(),
  anchor_late: m.operator_fault_anchor_late,
  renamed: () => m.operator_fault_renamed(),
  entries_wait: () => m.operator_fault_entries_wait(),
};

/** A fault of the audit log in the console's language; the service's words for one that the console does not know. */
export function faultWords(fault: { code: string; text: string }, entry: string): string {
  return find(FAULTS, fault.code)?.({ entry }) ?? fault.text;
}

const ACTORS: [prefix: string, words: (of: { name: string }) => string][] = [
  ['user ', m.operator_actor_user],
  ['administrator ', m.operator_actor_administrator],
  ["operator's key ", m.operator_actor_operator_key],
  ['key ', m.operator_actor_key],
];
const NAMED_ACTORS: Record<string, () => string> = {
  'operator at the command line': m.operator_actor_command_line,
  'the service itself': m.operator_actor_service,
  'nobody in particular': m.operator_actor_nobody,
};

/** Who did something, from the audit log's words. */
export function actorWords(actor: string): string {
  const named = find(NAMED_ACTORS, actor);
  if (named) return named();
  const [prefix, words] = ACTORS.find(([prefix]) => actor.startsWith(prefix)) ?? [];
  return prefix && words ? words({ name: actor.slice(prefix.length) }) : actor;
}

/** "5 minutes ago", from a duration that the service tells. */
export function secondsAgo(seconds: number, now = new Date()): string {
  return ago(new Date(now.getTime() - seconds * 1000), now);
}
