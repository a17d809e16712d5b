// Which credential a request carries. `/stage` belongs to keys, everything else to the person.
export interface Credentials {
  userId: string;
  operator: boolean;
  token?: string;
  apiKey?: string;
}

/** Where the service asks for a person even in the sandbox. */
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

/** The flags of an application, and where they stand. */
const FLAGS = /^(?:\/v1)?\/applications\/([^/]+)\/[^/]+\/(?:check|records)$/;

export function headersFor(path: string, who: Credentials | undefined): Record<string, string> {
  if (!who || path.startsWith('/v1/sandbox/')) return {};
  if (path.startsWith('/stage/')) return who.apiKey ? { 'X-API-Key': who.apiKey } : {};
  if (!who.token) return who.apiKey ? { 'X-API-Key': who.apiKey } : {};
  // The sandbox is open, but its tokens are never an administrator's: its operator acts without one where one may.
  const needed = NEEDS_PERSON.some((start) => path.startsWith(start)) || path.endsWith('/applicants');
  if (who.operator && !needed && who.apiKey?.startsWith('test_')) return {};
  // In the sandbox flags are open, but who signs in sees only their own: an owner asks about applicants without a name.
  const applicant = FLAGS.exec(path)?.[1];
  const others = applicant !== undefined && decodeURIComponent(applicant) !== who.userId;
  if (others && who.apiKey?.startsWith('test_')) return {};
  return { Authorization: `Bearer ${who.token}` };
}
