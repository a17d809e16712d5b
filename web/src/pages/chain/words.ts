// Labels and helpers for the chain pages.
import type { Block, Contracts } from '$lib/api';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info';

export const STATES: Record<string, { label: string; tone: Tone; means: string }> = {
  pending: { label: 'Pending', tone: 'info', means: 'It is signed and sent, and waits for a block.' },
  mined: { label: 'Mined', tone: 'good', means: 'It is in a block.' },
  replaced: {
    label: 'Replaced',
    tone: 'warn',
    means: 'Another transaction with a higher fee took its place and does the same.',
  },
  failed: { label: 'Failed', tone: 'bad', means: 'The chain refused it. What it carried is sent again by another.' },
};

export const CONTRACTS: { key: keyof Contracts; label: string; keeps: string }[] = [
  { key: 'listingRegistry', label: 'Listing registry', keeps: 'Requirements and digests of homes' },
  { key: 'identityToken', label: 'Identity token', keeps: 'One token for each verified case' },
  { key: 'applicationChecks', label: 'Application checks', keeps: 'Four flags for each application' },
  { key: 'auditAnchor', label: 'Audit anchor', keeps: 'Fingerprints of the log' },
];

/** Finds a contract by the name that transactions use, such as `IdentityToken`. */
export function contractOf(name: string | undefined) {
  return CONTRACTS.find(({ key }) => key.toLowerCase() === name?.toLowerCase());
}

const UNIT = 10n ** 18n;

/** Converts wei to ether. Wei balances exceed the safe integer range, so the parts are divided as BigInt. */
export function ether(wei: string): number {
  const whole = BigInt(wei);
  return Number(whole / UNIT) + Number(whole % UNIT) / Number(UNIT);
}

export const isHash = (text: string) => /^0x[0-9a-fA-F]{64}$/.test(text);
export const isNumber = (text: string) => /^[0-9]{1,15}$/.test(text);

/** Gas used in percent of the limit, with two decimals. */
export function fullness({ gasUsed, gasLimit }: Pick<Block, 'gasUsed' | 'gasLimit'>): number {
  return gasLimit === 0 ? 0 : Math.round((gasUsed / gasLimit) * 10_000) / 100;
}
