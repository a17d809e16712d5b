import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, type Abi, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { ABIS, describeContract } from './abi';
import {
  applicationKeys,
  contractAt,
  createdContract,
  decodeCall,
  decodeLog,
  decodeTransaction,
  isApplicationKey,
  isListingKey,
  listingKey,
} from './decode';

const key = listingKey('austin-1') as Hex;
const digest = `0x${'11'.repeat(32)}` as const;
const terms = { minCredit: 620, prefCredit: 700, minIncome: 5_500_000n, prefIncome: 7_000_000n };
const contracts = { listingRegistry: '0xAb', identityToken: '0x1', applicationChecks: '0x2', auditAnchor: '0x3' };
/** Of an application: random. */
const checkKey = `0x${'22'.repeat(32)}` as const;
const commitment = `0x${'33'.repeat(20)}` as const;

test('a batch of listings is decoded item by item', () => {
  const items = [1n, 2n].map((version) => ({ key, version, retired: false, ...terms, digest }));
  const input = encodeFunctionData({ abi: ABIS.listingRegistry, functionName: 'record', args: [items] });
  const call = decodeCall('listingRegistry', input);
  expect(call?.signature).toBe('record(Item[] items)');
  expect(call?.groups).toHaveLength(2);
  expect(call?.groups[1]?.map(({ name, value }) => [name, value])).toEqual([
    ['key', key],
    ['version', '2'],
    ['retired', 'false'],
    ['minCredit', '620'],
    ['prefCredit', '700'],
    ['minIncome', '5500000'],
    ['prefIncome', '7000000'],
    ['digest', digest],
  ]);
});

test('plain arguments are one group', () => {
  const args = [digest, '0x00000000000000000000000000000000000000aa'];
  const input = encodeFunctionData({ abi: ABIS.auditAnchor, functionName: 'grantRole', args });
  expect(decodeCall('auditAnchor', input)?.groups).toEqual([
    [
      { name: 'role', type: 'bytes32', value: digest },
      { name: 'account', type: 'address', value: '0x00000000000000000000000000000000000000AA' },
    ],
  ]);
});

test('a log is decoded with its indexed arguments', () => {
  const abi: Abi = ABIS.applicationChecks;
  const topics = encodeEventTopics({ abi, eventName: 'Recorded', args: { key: checkKey } }) as string[];
  const types = [{ type: 'uint64' }, { type: 'bytes20' }, { type: 'uint32' }];
  const data = encodeAbiParameters(types, [3n, commitment, 21_991]);
  const log = decodeLog('applicationChecks', { address: '', topics, data });
  expect(log?.signature).toBe('Recorded(bytes32 indexed key, uint64 version, bytes20 commitment, uint32 expiryDay)');
  expect(log?.groups[0]?.map(({ value }) => value)).toEqual([checkKey, '3', commitment, '21991']);
});

test('a transaction is decoded with the logs of the service’s contracts, and others stay as they are', () => {
  const item = { key: checkKey, version: 1n, commitment, expiryDay: 21_991 };
  const input = encodeFunctionData({ abi: ABIS.applicationChecks, functionName: 'record', args: [[item]] });
  const topics = encodeEventTopics({ abi: ABIS.applicationChecks, eventName: 'Stale', args: { key: digest } });
  const types = [{ type: 'uint64' }, { type: 'uint64' }];
  const stale = { address: '0x2', topics: topics as string[], data: encodeAbiParameters(types, [1n, 2n]) };
  const foreign = { address: '0x9', topics: [digest], data: '0x' };
  const decoded = decodeTransaction({ to: '0x2', input, logs: [stale, foreign] }, contracts);
  expect(decoded.call?.name).toBe('record');
  expect(decoded.logs.map(({ log, decoded }) => [log.address, decoded?.name])).toEqual([
    ['0x2', 'Stale'],
    ['0x9', undefined],
  ]);
  expect(applicationKeys(decoded)).toEqual([checkKey, digest]);
});

test('a pending transaction has no logs, and one to another contract no call', () => {
  const input = encodeFunctionData({ abi: ABIS.listingRegistry, functionName: 'record', args: [[]] });
  expect(decodeTransaction({ to: '0xab', input }, contracts)).toMatchObject({ call: { name: 'record' }, logs: [] });
  expect(decodeTransaction({ to: '0x9', input }, contracts)).toEqual({ logs: [] });
  expect(decodeTransaction({ to: '0xab' }, contracts)).toEqual({ logs: [] });
  expect(applicationKeys(decodeTransaction({ to: '0xab', input }, contracts))).toEqual([]);
});

test('a deployed contract has the address of its sender and nonce', () => {
  const from = '0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0';
  expect(createdContract({ from, nonce: 0 })).toBe('0xcd234A471b72ba2F1Ccf0A70FCABA648a5eeCD8d');
  expect(createdContract({ from, nonce: 0, to: '0x1' })).toBeUndefined();
});

test('the key of an application is told from others', () => {
  expect(isApplicationKey({ contract: 'applicationChecks' }, { name: 'key' })).toBe(true);
  expect(isApplicationKey({ contract: 'applicationChecks' }, { name: 'commitment' })).toBe(false);
  expect(isApplicationKey({ contract: 'listingRegistry' }, { name: 'key' })).toBe(false);
});

test('what is not of the contract stays as it is', () => {
  expect([decodeCall('listingRegistry', '0x'), decodeCall('listingRegistry', '0xdeadbeef00')]).toEqual([
    undefined,
    undefined,
  ]);
  expect(decodeLog('listingRegistry', { address: '', topics: [digest], data: '0x' })).toBeUndefined();
  expect(decodeLog('listingRegistry', { address: '', topics: [], data: '0x' })).toBeUndefined();
});

test('contracts are found by address in any case, and keys of listings are told from others', () => {
  expect([contractAt('0xaB', contracts), contractAt('0x9', contracts), contractAt(undefined, contracts)]).toEqual([
    'listingRegistry',
    undefined,
    undefined,
  ]);
  expect(isListingKey({ contract: 'listingRegistry' }, { name: 'key' })).toBe(true);
  expect(isListingKey({ contract: 'applicationChecks' }, { name: 'key' })).toBe(false);
  expect(isListingKey({ contract: 'auditAnchor' }, { name: 'key' })).toBe(false);
});

test('a contract is described by what it reads, writes and reports', () => {
  const { reads, writes, events } = describeContract('listingRegistry');
  expect(reads).toContain('requirementsOf(bytes32 key)');
  expect(writes).toContain('record(Item[] items)');
  expect(events).toContain('Rejected(bytes32 indexed key, uint64 version, Reason reason)');
});
