// Reads the owner of a token from the chain, through the sandbox node or the browser wallet.
import { hasWallet } from '$lib/wallet/wallet';

export interface Holder {
  /** False if no node is reachable from the browser. */
  isReachable: boolean;
  /** Absent if the token is not on the chain. */
  address?: string;
}

interface Token {
  number: string;
  contract: string;
  chainId: number;
}

const OWNER_OF_SELECTOR = '0x6352211e';

export async function readHolder(token: Token, sandbox: boolean, signal: AbortSignal): Promise<Holder> {
  const data = `${OWNER_OF_SELECTOR}${BigInt(token.number).toString(16).padStart(64, '0')}` as const;
  if (sandbox) {
    const params = [{ to: token.contract, data }, 'latest'];
    const response = await fetch('/rpc', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params }),
      signal,
    });
    if (!response.ok) return { isReachable: false };
    // A missing token is an error in the JSON-RPC response.
    const { result } = (await response.json()) as { result?: string };
    return { isReachable: true, address: result && decodeAddress(result) };
  }
  if (!hasWallet() || !window.ethereum) return { isReachable: false };
  const { createPublicClient, custom } = await import('viem');
  const client = createPublicClient({ transport: custom(window.ethereum) });
  if ((await client.getChainId()) !== token.chainId) return { isReachable: false };
  const response = await client.call({ to: token.contract as `0x${string}`, data }).catch(() => undefined);
  return { isReachable: true, address: response?.data && decodeAddress(response.data) };
}

/** Extracts the address from a 32-byte ABI word. */
export function decodeAddress(word: string): string {
  return `0x${word.slice(-40)}`;
}
