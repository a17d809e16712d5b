// Labels and helpers for the chain pages.
import type { Block, Contracts } from '$lib/api';
import { m } from '$lib/i18n';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info';

export const STATUSES: Record<string, { label: string; tone: Tone; description: string }> = {
  pending: { label: m.chain_status_pending(), tone: 'info', description: m.chain_status_pending_text() },
  mined: { label: m.chain_status_mined(), tone: 'good', description: m.chain_status_mined_text() },
  replaced: {
    label: m.chain_status_replaced(),
    tone: 'warn',
    description: m.chain_status_replaced_text(),
  },
  failed: {
    label: m.chain_status_failed(),
    tone: 'bad',
    description: m.chain_status_failed_text(),
  },
};

export const CONTRACTS: { key: keyof Contracts; label: string; description: string }[] = [
  { key: 'listingRegistry', label: m.chain_listing_registry(), description: m.chain_listing_registry_text() },
  { key: 'identityToken', label: m.chain_identity_token(), description: m.chain_identity_token_text() },
  { key: 'applicationChecks', label: m.chain_application_checks(), description: m.chain_application_checks_text() },
  { key: 'auditAnchor', label: m.chain_audit_anchor(), description: m.chain_audit_anchor_text() },
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

/** Gas used in percent of the limit, with two decimals. */
export function gasUsedPercent({ gasUsed, gasLimit }: Pick<Block, 'gasUsed' | 'gasLimit'>): number {
  return gasLimit === 0 ? 0 : Math.round((gasUsed / gasLimit) * 10_000) / 100;
}
