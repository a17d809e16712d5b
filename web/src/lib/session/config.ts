// Sign-in configuration from the server. Without a response, the console assumes a sandbox.
export interface Config {
  profile: 'sandbox' | 'live';
  issuer?: string;
  clientId?: string;
  /** Scopes to request from the OpenID Connect issuer in addition to `openid`. */
  scope?: string;
  audience?: string;
  /** Claim that marks an administrator in the issuer's tokens; the scope `admin` by default. */
  adminClaim?: { claim: string; value: string };
  currency: string;
  /** Of listings that name none. */
  country: string;
  /** Path of the PMTiles file with streets, if the server has one. */
  basemap?: string;
  chain?: { id: number; rpc?: string; explorer?: string };
}

const SANDBOX: Config = { profile: 'sandbox', currency: 'USD', country: 'US' };

export async function loadConfig(): Promise<Config> {
  const response = await fetch(`${import.meta.env.BASE_URL}config.json`).catch(() => undefined);
  const json = response?.headers.get('content-type')?.includes('json');
  if (!response?.ok || !json) return SANDBOX;
  return { ...SANDBOX, ...((await response.json()) as Partial<Config>) };
}
