// The interfaces of the service's contracts, from their build. Import it lazily.
import type { Abi, AbiEvent, AbiFunction, AbiParameter } from 'viem';
import { abi as applicationChecks } from '../../../../contracts/artifacts/ApplicationChecks.json';
import { abi as auditAnchor } from '../../../../contracts/artifacts/AuditAnchor.json';
import { abi as identityToken } from '../../../../contracts/artifacts/IdentityToken.json';
import { abi as listingRegistry } from '../../../../contracts/artifacts/ListingRegistry.json';
import type { Contracts } from '$lib/api';

export type ContractKey = keyof Contracts;

export const ABIS: Record<ContractKey, Abi> = {
  listingRegistry: listingRegistry as Abi,
  identityToken: identityToken as Abi,
  applicationChecks: applicationChecks as Abi,
  auditAnchor: auditAnchor as Abi,
};

/** `record(Item[] items)`, `Recorded(bytes32 indexed key, uint64 version)`. */
export function formatSignature({ name, inputs }: AbiFunction | AbiEvent): string {
  const formatted = inputs.map((input) =>
    [typeName(input), 'indexed' in input && input.indexed && 'indexed', input.name].filter(Boolean).join(' '),
  );
  return `${name}(${formatted.join(', ')})`;
}

/** `struct IListingRegistry.Item[]` is `Item[]`. */
function typeName({ type, internalType }: AbiParameter): string {
  return /^(?:struct|enum) (?:.*\.)?(.+)$/.exec(internalType ?? '')?.[1] ?? type;
}

export interface ContractInterface {
  reads: string[];
  writes: string[];
  events: string[];
}

export function describeContract(key: ContractKey): ContractInterface {
  const functions = ABIS[key].filter((one): one is AbiFunction => one.type === 'function');
  const isRead = ({ stateMutability }: AbiFunction) => stateMutability === 'view' || stateMutability === 'pure';
  return {
    reads: functions.filter(isRead).map(formatSignature),
    writes: functions.filter((one) => !isRead(one)).map(formatSignature),
    events: ABIS[key].filter((one): one is AbiEvent => one.type === 'event').map(formatSignature),
  };
}
