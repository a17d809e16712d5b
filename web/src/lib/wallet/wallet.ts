// The browser's own wallet. viem is loaded when somebody wants to use one.
import type { EIP1193Provider } from 'viem';

declare global {
  interface Window {
    ethereum?: EIP1193Provider;
  }
}

export function hasWallet(): boolean {
  return window.ethereum !== undefined;
}

/** Asks the wallet for an address; it may ask the person. */
export async function walletAddress(): Promise<string> {
  if (!window.ethereum) throw new Error('There is no wallet in this browser.');
  const { createWalletClient, custom } = await import('viem');
  const [address] = await createWalletClient({ transport: custom(window.ethereum) }).requestAddresses();
  if (!address) throw new Error('The wallet gave no address.');
  return address;
}
