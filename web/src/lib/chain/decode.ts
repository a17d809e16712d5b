// Decodes calls and logs of the service's contracts. With viem and the interfaces of the contracts: import it lazily.
import {
  decodeEventLog,
  decodeFunctionData,
  getAbiItem,
  getContractAddress,
  keccak256,
  toBytes,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  type Hex,
} from 'viem';
import type { Contracts, Transaction } from '$lib/api';
import { ABIS, formatSignature, type ContractKey } from './abi';

export interface RawLog {
  address: string;
  topics: string[];
  data: string;
}

export interface Argument {
  name: string;
  type: string;
  /** As the contract has it. */
  value: string;
}

export interface Decoded {
  contract: ContractKey;
  name: string;
  signature: string;
  /** One group for each item of a batch. Arguments that are not a list are one group. */
  groups: Argument[][];
}

export interface DecodedTransaction {
  /** Absent if it calls none of the service's contracts. */
  call?: Decoded;
  logs: { log: RawLog; decoded?: Decoded }[];
}

export function decodeTransaction(
  { to, input, logs = [] }: Pick<Transaction, 'to' | 'input' | 'logs'>,
  contracts: Contracts,
): DecodedTransaction {
  const contract = contractAt(to, contracts);
  return {
    call: contract && input ? decodeCall(contract, input) : undefined,
    logs: logs.map((log) => {
      const emitter = contractAt(log.address, contracts);
      return { log, decoded: emitter && decodeLog(emitter, log) };
    }),
  };
}

/** The address of the contract that a transaction creates; undefined if it calls one. */
export function createdContract({ to, from, nonce }: Pick<Transaction, 'to' | 'from' | 'nonce'>): string | undefined {
  return to ? undefined : getContractAddress({ from: from as Hex, nonce: BigInt(nonce) });
}

export function contractAt(address: string | undefined, contracts: Contracts): ContractKey | undefined {
  const found = Object.entries(contracts).find(([, at]) => at.toLowerCase() === address?.toLowerCase());
  return found?.[0] as ContractKey | undefined;
}

/** Undefined if the input is not a call of this contract. */
export function decodeCall(contract: ContractKey, input: string): Decoded | undefined {
  try {
    const { functionName, args = [] } = decodeFunctionData({ abi: ABIS[contract], data: input as Hex });
    const item = getAbiItem({ abi: ABIS[contract], name: functionName, args }) as AbiFunction;
    return { contract, name: functionName, signature: formatSignature(item), groups: toGroups(item.inputs, args) };
  } catch {
    return undefined;
  }
}

/** Undefined if the log is not one of this contract's events. */
export function decodeLog(contract: ContractKey, { topics, data }: RawLog): Decoded | undefined {
  try {
    const options = { abi: ABIS[contract], data: data as Hex, topics: topics as [Hex, ...Hex[]] };
    const { eventName = '', args } = decodeEventLog(options);
    const item = ABIS[contract].find((one): one is AbiEvent => one.type === 'event' && one.name === eventName);
    if (!item) return undefined;
    const values = item.inputs.map(({ name }) => (args as Record<string, unknown> | undefined)?.[name ?? '']);
    return { contract, name: eventName, signature: formatSignature(item), groups: toGroups(item.inputs, values) };
  } catch {
    return undefined;
  }
}

function toGroups(inputs: readonly AbiParameter[], values: readonly unknown[]): Argument[][] {
  const [first] = inputs;
  if (inputs.length === 1 && first?.type === 'tuple[]' && 'components' in first) {
    const items = values[0] as Record<string, unknown>[];
    return items.map((item) => first.components.map((field) => toArgument(field, item[field.name ?? ''])));
  }
  return inputs.length === 0 ? [] : [inputs.map((input, i) => toArgument(input, values[i]))];
}

function toArgument({ name = '', type }: AbiParameter, value: unknown): Argument {
  return { name, type, value: typeof value === 'object' ? toJson(value) : String(value) };
}

function toJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
}

/** By what the chain knows a listing. */
export function listingKey(id: string): string {
  return keccak256(toBytes(id));
}

/** True for an argument that is the key of a listing. */
export function isListingKey({ contract }: Pick<Decoded, 'contract'>, { name }: Pick<Argument, 'name'>): boolean {
  return contract === 'listingRegistry' && name === 'key';
}

/** True for an argument that is the random key of an application. */
export function isApplicationKey({ contract }: Pick<Decoded, 'contract'>, { name }: Pick<Argument, 'name'>): boolean {
  return contract === 'applicationChecks' && name === 'key';
}

/** Keys of the applications that a transaction names. */
export function applicationKeys({ call, logs }: DecodedTransaction): string[] {
  const keys = new Set<string>();
  for (const decoded of [call, ...logs.map((log) => log.decoded)]) {
    if (!decoded) continue;
    for (const argument of decoded.groups.flat()) if (isApplicationKey(decoded, argument)) keys.add(argument.value);
  }
  return [...keys];
}
