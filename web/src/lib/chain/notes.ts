// What a raw argument means: cents as an amount, a day as a date, an empty commitment and reasons in words.
import { number, time } from '$lib/format';
import { m } from '$lib/i18n';
import type { Argument, Decoded } from './decode';

/** The contract counts days in UTC. */
const MILLISECONDS_PER_DAY = 86_400_000;
/** The last day that a date can have. */
const MAX_DAY = 100_000_000;

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
  m.developer_reason_expiry_missing,
  m.developer_reason_version_too_far,
];

export function noteOf(argument: Argument, decoded: Pick<Decoded, 'contract' | 'name'>): string | undefined {
  const value = Number(argument.value);
  switch (argument.name) {
    case 'minIncome':
    case 'prefIncome':
      return m.developer_note_cents({ amount: number(value / 100, 2) });
    case 'expiryDay':
      return value === 0 || value > MAX_DAY ? undefined : time(new Date(value * MILLISECONDS_PER_DAY));
    case 'commitment':
      return decoded.contract === 'applicationChecks' && value === 0 ? m.developer_note_cleared() : undefined;
    case 'reason':
      return decoded.name === 'Rejected' ? REASONS[value]?.() : undefined;
    default:
      return undefined;
  }
}
