// The browser wallet (EIP-1193). viem is loaded on first use.
import type { EIP1193Provider } from 'viem';

declare global {
  interface Window {
    ethereum?: EIP1193Provider;
  }
}

export function hasWallet(): boolean {
  return window.ethereum !== undefined;
}

/** Requests the wallet's address; the wallet may ask the user for permission. */
export async function walletAddress(): Promise<string> {
  if (!window.ethereum) throw new Error('There is no wallet in this browser.');
  const { createWalletClient, custom } = await import('viem');
  const [address] = await createWalletClient({ transport: custom(window.ethereum) }).requestAddresses();
  if (!address) throw new Error('The wallet gave no address.');
  return address;
}
