// A browser wallet for tests (EIP-1193): one account, whose key signs outside of the page.
import type { Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

export interface TestWallet {
  address: string;
  /** The texts that it signed. */
  signed: string[];
  /** The user declines the next request to sign. */
  declineNext(): void;
}

/** Takes effect with the next navigation. With `foreignKey`, another key signs than that of the account. */
export async function addWallet(page: Page, options: { foreignKey?: boolean } = {}): Promise<TestWallet> {
  const account = privateKeyToAccount(generatePrivateKey());
  const signer = options.foreignKey ? privateKeyToAccount(generatePrivateKey()) : account;
  let declines = false;
  const signed: string[] = [];
  await page.exposeFunction('testWalletSign', async (raw: `0x${string}`) => {
    if (declines) {
      declines = false;
      return null;
    }
    signed.push(Buffer.from(raw.slice(2), 'hex').toString('utf8'));
    return signer.signMessage({ message: { raw } });
  });
  await page.addInitScript((address) => {
    const target = window as never as {
      ethereum: object;
      testWalletSign: (raw: string) => Promise<string | null>;
    };
    const request = async ({ method, params }: { method: string; params?: string[] }) => {
      if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [address];
      if (method !== 'personal_sign') return null;
      const signature = await target.testWalletSign(params?.[0] ?? '0x');
      if (signature === null) throw Object.assign(new Error('User rejected the request.'), { code: 4001 });
      return signature;
    };
    target.ethereum = { request, on() {}, removeListener() {} };
  }, account.address);
  return { address: account.address, signed, declineNext: () => (declines = true) };
}
