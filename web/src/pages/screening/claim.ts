// A wallet claims a token: it signs the message of the service and becomes the token's holder.
import { ApiError, beginClaim, claimIdentity, type Identity } from '$lib/api';
import { signMessage, walletAddress } from '$lib/wallet/wallet';

const ERRORS: Partial<Record<ApiError['code'], string>> = {
  signature_invalid:
    'The signature is not that of this wallet. Choose the same account in the wallet, and claim again.',
  claim_expired: 'The message was used, replaced or older than ten minutes. Claim again for a new one.',
  identity_revoked: 'The token was revoked. Nobody can hold it any more.',
  identity_not_found: 'You have no such token.',
};

export async function claimWithWallet(tokenId: string): Promise<Identity> {
  const path = { tokenId };
  const address = await walletAddress();
  try {
    const { message, nonce } = await beginClaim({ path, query: { address } });
    const signature = await signMessage(address, message);
    return await claimIdentity({ path, body: { nonce, signature } });
  } catch (error) {
    const text = error instanceof ApiError ? ERRORS[error.code] : undefined;
    throw text ? new Error(text, { cause: error }) : error;
  }
}
