// Selects the credential for a request: the API key for `/stage`, the bearer token for everything else.
export interface Credentials {
  userId: string;
  operator: boolean;
  token?: string;
  apiKey?: string;
}

export function headersFor(path: string, credentials: Credentials | undefined): Record<string, string> {
  if (!credentials || path.startsWith('/v1/sandbox/')) return {};
  if (path.startsWith('/stage/')) return credentials.apiKey ? { 'X-API-Key': credentials.apiKey } : {};
  if (!credentials.token) return credentials.apiKey ? { 'X-API-Key': credentials.apiKey } : {};
  return { Authorization: `Bearer ${credentials.token}` };
}
