// Selects the credential for a request: the API key for `/stage`, the bearer token for everything else.
export interface Credentials {
  userId: string;
  operator: boolean;
  token?: string;
  apiKey?: string;
}

/** Paths that require a bearer token even in the sandbox. */
const PERSON_ONLY_PATHS = [
  '/verificationPipeline',
  '/chainIdentityInd',
  '/verifyRentalRequirements',
  '/applications',
  '/v1/applications',
  '/v1/keys',
  '/v1/verifications',
  '/v1/identities',
  '/v1/pipelines',
  '/v1/users',
];

export function headersFor(path: string, credentials: Credentials | undefined): Record<string, string> {
  if (!credentials || path.startsWith('/v1/sandbox/')) return {};
  if (path.startsWith('/stage/')) return credentials.apiKey ? { 'X-API-Key': credentials.apiKey } : {};
  if (!credentials.token) return credentials.apiKey ? { 'X-API-Key': credentials.apiKey } : {};
  // Sandbox tokens never have the admin scope, so the sandbox operator sends no token where none is required.
  const requiresPerson = PERSON_ONLY_PATHS.some((prefix) => path.startsWith(prefix)) || path.endsWith('/applicants');
  if (credentials.operator && !requiresPerson && credentials.apiKey?.startsWith('test_')) return {};
  return { Authorization: `Bearer ${credentials.token}` };
}
