// Selects the credential for a request: the API key for `/stage`, the bearer token for everything else.
export interface Credentials {
  userId: string;
  operator: boolean;
  token?: string;
  apiKey?: string;
}

/** Paths that require a bearer token even in the sandbox. */
const NEEDS_PERSON = [
  '/verificationPipeline',
  '/chainIdentityInd',
  '/verifyRentalRequirements',
  '/applications',
  '/v1/keys',
  '/v1/verifications',
  '/v1/identities',
  '/v1/pipelines',
  '/v1/users',
];

/** Paths of the flags of an application and of their chain records. */
const FLAGS = /^(?:\/v1)?\/applications\/([^/]+)\/[^/]+\/(?:check|records)$/;

export function headersFor(path: string, who: Credentials | undefined): Record<string, string> {
  if (!who || path.startsWith('/v1/sandbox/')) return {};
  if (path.startsWith('/stage/')) return who.apiKey ? { 'X-API-Key': who.apiKey } : {};
  if (!who.token) return who.apiKey ? { 'X-API-Key': who.apiKey } : {};
  // Sandbox tokens never have the admin scope, so the sandbox operator sends no token where none is required.
  const needed = NEEDS_PERSON.some((start) => path.startsWith(start)) || path.endsWith('/applicants');
  if (who.operator && !needed && who.apiKey?.startsWith('test_')) return {};
  // In the sandbox, a signed-in user can read only their own flags, but anonymous requests can read all of them. An owner
  // therefore requests the flags of applicants anonymously.
  const applicant = FLAGS.exec(path)?.[1];
  const others = applicant !== undefined && decodeURIComponent(applicant) !== who.userId;
  if (others && who.apiKey?.startsWith('test_')) return {};
  return { Authorization: `Bearer ${who.token}` };
}
