// How this instance wants people to sign in. The server answers it; without an answer it is a sandbox.
export interface Config {
  profile: 'sandbox' | 'live';
  issuer?: string;
  clientId?: string;
  /** What the OpenID Connect issuer is asked for besides `openid`. */
  scope?: string;
  audience?: string;
  /** What makes an administrator in the issuer's tokens; without it, the scope `admin`. */
  adminClaim?: { claim: string; value: string };
  currency: string;
  chain?: { id: number; rpc?: string; explorer?: string };
}

const SANDBOX: Config = { profile: 'sandbox', currency: 'USD' };

export async function loadConfig(): Promise<Config> {
  const response = await fetch(`${import.meta.env.BASE_URL}config.json`).catch(() => undefined);
  const json = response?.headers.get('content-type')?.includes('json');
  if (!response?.ok || !json) return SANDBOX;
  return { ...SANDBOX, ...((await response.json()) as Partial<Config>) };
}
