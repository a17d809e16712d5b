// Homes, applicants and verifications for tests of applications.
import type { Page } from 'playwright-core';
import type { useConsole } from '.';

type App = ReturnType<typeof useConsole>;

export const TERMS = { minCredit: 620, prefCredit: 700, minIncome: 50000, prefIncome: 90000 };

/** Records a home with terms on the chain. */
export async function recordListing(app: App, id: string, more: object = {}): Promise<void> {
  const where = {
    addressStreet: `${id} Street`,
    addressCity: 'Austin',
    addressState: 'TX',
    addressPostal: '78701',
    monthlyPayment: 1850,
  };
  const body = { id, userId: 'ada', ...where, ...TERMS, ...more };
  await app.post('/stage/listings', body, await app.keyHeaders(body.userId));
}

/** Which checks a landlord requires; applicants name the client id. */
export async function requireChecks(app: App, userId: string, clientId: string, checks: object): Promise<void> {
  // The response is text, not JSON.
  const response = await fetch(`${app.url}/verificationPipeline`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await app.tokenHeaders(userId)) },
    body: JSON.stringify({ ClientId: clientId, CountryIdentifier: 'US', ...checks }),
  });
  if (!response.ok) throw new Error(`/verificationPipeline: ${response.status} ${await response.text()}`);
}

export async function applyFor(app: App, userId: string, listingId: string): Promise<void> {
  await app.post('/applications', { userId, listingIds: [listingId] }, await app.tokenHeaders(userId));
}

/** Agrees to the conditions in the open dialog, and applies. */
export async function agreeAndApply(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Apply for this home?' });
  await dialog.getByRole('checkbox', { name: /^I have read these conditions/ }).check();
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
}

/** Verifies a user with a score of 720 and an income of 85,000, unless the details say otherwise. */
export async function verify(app: App, userId: string, caseId: string, details: object = {}): Promise<void> {
  const applicant = {
    FirstName: userId,
    LastName: 'Tenant',
    DateOfBirth: '1990-04-01',
    SSN: '900-00-0720',
    StreetAddress: '1 Elm',
    City: 'Austin',
    State: 'TX',
    PostalCode: '78701',
    Email: 'tenant@example.com',
    OpenBankingSubscriptionId: 'sub-1',
    OpenBankingToken: 'income-85000',
    consentedAt: new Date().toISOString(),
    consentVersion: '2026-01',
    ...details,
  };
  await app.post(`/verifyRentalRequirements?caseId=${caseId}`, applicant, await app.tokenHeaders(userId));
}
