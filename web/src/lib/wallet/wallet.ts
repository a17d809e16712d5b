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
  const wallet = await connect();
  const [address] = await wallet.requestAddresses().catch(explain);
  if (!address) throw new Error('The wallet gave no address.');
  return address;
}

/** Has the wallet sign a text (EIP-191, `personal_sign`); it shows the text to the user. */
export async function signMessage(address: string, message: string): Promise<string> {
  const wallet = await connect();
  return wallet.signMessage({ account: address as `0x${string}`, message }).catch(explain);
}

async function connect() {
  if (!window.ethereum)
    throw new Error('There is no wallet in this browser. Install one, or open this page in its browser.');
  const { createWalletClient, custom } = await import('viem');
  return createWalletClient({ transport: custom(window.ethereum) });
}

const USER_REJECTED = 4001;

/** The errors of viem are several lines of technical details. */
function explain(error: unknown): never {
  const { code, shortMessage, message } = error as { code?: number; shortMessage?: string; message?: string };
  if (code === USER_REJECTED || /user rejected/i.test(message ?? ''))
    throw new Error('You declined in the wallet, so nothing has changed.');
  throw new Error(`The wallet refused: ${shortMessage ?? message ?? 'it gave no reason'}`);
}
