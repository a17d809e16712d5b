// The chain's own JSON-RPC, where the service offers it: the embedded chain of a sandbox. Read-only, no credential.
import { ConnectionError } from '$lib/api';
import { session } from '$lib/session/session.svelte';

export function rpcUrl(): string | undefined {
  return session.config.chain?.rpc;
}

interface RpcAnswer {
  id: number;
  result?: unknown;
  error?: { message: string };
}

/** Sends several calls as one request; the results are in their order. */
export async function callRpc(
  calls: readonly { method: string; params: unknown[] }[],
  signal?: AbortSignal,
): Promise<unknown[]> {
  const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(rpcUrl() ?? '', { method: 'POST', headers, body, signal });
  if (!response.ok) throw new ConnectionError();
  const answers = (await response.json()) as RpcAnswer[];
  return calls.map((_, id) => {
    const answer = answers.find((one) => one.id === id);
    if (!answer || answer.error) throw new Error(answer?.error?.message);
    return answer.result;
  });
}

export interface RawLog {
  address: string;
  topics: string[];
  data: string;
}

/** What the API does not tell of a transaction. */
export interface RawTransaction {
  /** Absent: it creates a contract. */
  to?: string;
  input: string;
  /** In wei. */
  value: string;
  receipt?: { gasUsed: number; isReverted: boolean; createdContract?: string; logs: RawLog[] };
}

/** Undefined if the chain has none of this hash. */
export async function loadRawTransaction(hash: string, signal: AbortSignal): Promise<RawTransaction | undefined> {
  const params = [hash];
  const [transaction, receipt] = (await callRpc(
    [
      { method: 'eth_getTransactionByHash', params },
      { method: 'eth_getTransactionReceipt', params },
    ],
    signal,
  )) as [
    { to: string | null; input: string; value: string } | null,
    { gasUsed: string; status: string; contractAddress: string | null; logs: RawLog[] } | null,
  ];
  if (!transaction) return undefined;
  return {
    to: transaction.to ?? undefined,
    input: transaction.input,
    value: BigInt(transaction.value).toString(),
    receipt: receipt
      ? {
          gasUsed: Number(receipt.gasUsed),
          isReverted: receipt.status === '0x0',
          createdContract: receipt.contractAddress ?? undefined,
          logs: receipt.logs,
        }
      : undefined,
  };
}

export interface Account {
  /** In wei. */
  balance: string;
  nonce: number;
  /** Of the contract at this address; 0 if there is none. */
  codeBytes: number;
}

export async function loadAccount(address: string, signal: AbortSignal): Promise<Account> {
  const params = [address, 'latest'];
  const methods = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'];
  const results = await callRpc(
    methods.map((method) => ({ method, params })),
    signal,
  );
  const [balance = '0x0', nonce = '0x0', code = '0x'] = results as string[];
  return { balance: BigInt(balance).toString(), nonce: Number(nonce), codeBytes: (code.length - 2) / 2 };
}
