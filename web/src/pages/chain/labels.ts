// Labels and helpers for the chain pages.
import type { Block, Contracts } from '$lib/api';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info';

export const STATUSES: Record<string, { label: string; tone: Tone; description: string }> = {
  pending: { label: 'Pending', tone: 'info', description: 'It is signed and sent, and waits for a block.' },
  mined: { label: 'Mined', tone: 'good', description: 'It is in a block.' },
  replaced: {
    label: 'Replaced',
    tone: 'warn',
    description: 'Another transaction with a higher fee took its place and does the same.',
  },
  failed: {
    label: 'Failed',
    tone: 'bad',
    description: 'The chain refused it. What it carried is sent again by another.',
  },
};

export const CONTRACTS: { key: keyof Contracts; label: string; description: string }[] = [
  { key: 'listingRegistry', label: 'Listing registry', description: 'Requirements and digests of homes' },
  { key: 'identityToken', label: 'Identity token', description: 'One token for each verified case' },
  { key: 'applicationChecks', label: 'Application checks', description: 'Four flags for each application' },
  { key: 'auditAnchor', label: 'Audit anchor', description: 'Fingerprints of the log' },
];

/** Finds a contract by the name that transactions use, such as `IdentityToken`. */
export function findContract(name: string | undefined) {
  return CONTRACTS.find(({ key }) => key.toLowerCase() === name?.toLowerCase());
}

const WEI_PER_ETHER = 10n ** 18n;

/** Converts wei to ether. Wei balances exceed the safe integer range, so the parts are divided as BigInt. */
export function weiToEther(wei: string): number {
  const total = BigInt(wei);
  return Number(total / WEI_PER_ETHER) + Number(total % WEI_PER_ETHER) / Number(WEI_PER_ETHER);
}

export const isHash = (text: string) => /^0x[0-9a-fA-F]{64}$/.test(text);
export const isBlockNumber = (text: string) => /^[0-9]{1,15}$/.test(text);

/** Gas used in percent of the limit, with two decimals. */
export function gasUsedPercent({ gasUsed, gasLimit }: Pick<Block, 'gasUsed' | 'gasLimit'>): number {
  return gasLimit === 0 ? 0 : Math.round((gasUsed / gasLimit) * 10_000) / 100;
}
