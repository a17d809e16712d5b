// The browser wallet (EIP-1193). viem is loaded on first use.
import type { EIP1193Provider } from 'viem';
import { m } from '../i18n';

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
  if (!address) throw new Error(m.shell_wallet_no_address());
  return address;
}

/** Has the wallet sign a text (EIP-191, `personal_sign`); it shows the text to the user. */
export async function signMessage(address: string, message: string): Promise<string> {
  const wallet = await connect();
  return wallet.signMessage({ account: address as `0x${string}`, message }).catch(explain);
}

async function connect() {
  if (!window.ethereum) throw new Error(m.shell_wallet_missing());
  const { createWalletClient, custom } = await import('viem');
  return createWalletClient({ transport: custom(window.ethereum) });
}

const USER_REJECTED = 4001;

/** The errors of viem are several lines of technical details. */
function explain(error: unknown): never {
  const { code, shortMessage, message } = error as { code?: number; shortMessage?: string; message?: string };
  if (code === USER_REJECTED || /user rejected/i.test(message ?? '')) throw new Error(m.shell_wallet_declined());
  throw new Error(m.shell_wallet_refused({ reason: shortMessage ?? message ?? m.shell_wallet_no_reason() }));
}
