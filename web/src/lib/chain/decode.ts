// Decodes calls and logs of the service's contracts. With viem and the interfaces of the contracts: import it lazily.
import {
  decodeEventLog,
  decodeFunctionData,
  getAbiItem,
  keccak256,
  toBytes,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  type Hex,
} from 'viem';
import type { Contracts } from '$lib/api';
import { ABIS, formatSignature, type ContractKey } from './abi';
import type { RawLog } from './rpc';

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
  return contract === 'listingRegistry' ? name === 'key' : contract === 'applicationChecks' && name === 'listing';
}
