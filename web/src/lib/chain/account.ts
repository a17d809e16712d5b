// Balance, nonce and code of any account, where the service offers its chain's JSON-RPC: the embedded chain of a sandbox.
// Read-only, no credential.
import { ConnectionError } from '$lib/api';
import { session } from '$lib/session/session.svelte';

export interface Account {
  /** In wei. */
  balance: string;
  nonce: number;
  /** Of the contract at this address; 0 if there is none. */
  codeBytes: number;
}

interface RpcAnswer {
  id: number;
  result?: string;
}

const METHODS = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'];

/** Undefined where there is no JSON-RPC. */
export async function loadAccount(address: string, signal: AbortSignal): Promise<Account | undefined> {
  const url = session.config.chain?.rpc;
  if (!url) return undefined;
  const calls = METHODS.map((method, id) => ({ jsonrpc: '2.0', id, method, params: [address, 'latest'] }));
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls), signal });
  if (!response.ok) throw new ConnectionError();
  const answers = (await response.json()) as RpcAnswer[];
  const [balance = '0x0', nonce = '0x0', code = '0x'] = calls.map(
    ({ id }) => answers.find((answer) => answer.id === id)?.result,
  );
  return { balance: BigInt(balance).toString(), nonce: Number(nonce), codeBytes: (code.length - 2) / 2 };
}
