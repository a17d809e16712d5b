// A wallet claims a token: it signs the message of the service and becomes the token's holder.
import { ApiError, beginClaim, claimIdentity, type Identity } from '$lib/api';
import { m } from '$lib/i18n';
import { signMessage, walletAddress } from '$lib/wallet/wallet';

const ERRORS: Partial<Record<ApiError['code'], string>> = {
  signature_invalid: m.screening_claim_signature(),
  claim_expired: m.screening_claim_expired(),
  identity_revoked: m.screening_claim_revoked(),
  identity_not_found: m.screening_claim_unknown(),
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
