// What a raw argument means: cents as an amount, seconds as a date, flags and reasons in words.
import { number, time } from '$lib/format';
import { m } from '$lib/i18n';
import type { Argument, Decoded } from './decode';

/** Bits of `flags`; see IApplicationChecks.sol. */
const FLAGS: [bit: number, words: () => string][] = [
  [1, m.developer_flag_min_credit],
  [2, m.developer_flag_pref_credit],
  [4, m.developer_flag_min_income],
  [8, m.developer_flag_pref_income],
];

/** `Reason` of IVersioned.sol; the numbers never change. */
const REASONS: (() => string)[] = [
  m.developer_reason_none,
  m.developer_reason_key_missing,
  m.developer_reason_version_missing,
  m.developer_reason_key_too_large,
  m.developer_reason_credit_too_high,
  m.developer_reason_preferred_below_minimum,
  m.developer_reason_digest_missing,
  m.developer_reason_holder_missing,
  m.developer_reason_flag_unknown,
  m.developer_reason_preferred_without_minimum,
  m.developer_reason_expiry_missing,
  m.developer_reason_version_too_far,
];

export function noteOf(argument: Argument, decoded: Pick<Decoded, 'name'>): string | undefined {
  const value = Number(argument.value);
  switch (argument.name) {
    case 'minIncome':
    case 'prefIncome':
      return m.developer_note_cents({ amount: number(value / 100, 2) });
    case 'expiresAt':
      return value === 0 || value * 1000 > 8.64e15 ? undefined : time(new Date(value * 1000));
    case 'flags':
      return flagWords(value);
    case 'reason':
      return decoded.name === 'Rejected' ? REASONS[value]?.() : undefined;
    default:
      return undefined;
  }
}

function flagWords(flags: number): string {
  const met = FLAGS.filter(([bit]) => (flags & bit) !== 0).map(([, words]) => words());
  return met.length === 0 ? m.developer_flag_none() : met.join(', ');
}
