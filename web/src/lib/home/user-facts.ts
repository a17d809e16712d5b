// Asks the service what the signed-in user has. One item of each list is enough to know.
import {
  getSavedListings,
  listApplications,
  listDevicesByUser,
  listListings,
  listUserPortfolios,
  listVerifications,
} from '../api';
import { session } from '../session/session.svelte';
import { homeRole } from './role.svelte';
import { roleOf, type UserFacts } from './roles';

const ONE = { limit: 1 };

/** Finds out whose home page fits the user, and keeps it. */
export async function detectRole(signal?: AbortSignal): Promise<void> {
  homeRole.detected(roleOf(await loadUserFacts(signal)));
}

async function loadUserFacts(signal?: AbortSignal): Promise<UserFacts> {
  const { userId, isOperator } = session;
  const path = { userId };
  const some = async (list: Promise<readonly unknown[]>) => (await list).length > 0;
  const none: UserFacts = { isOperator, hasListings: false, isApplicant: false, hasInvestments: false };
  if (isOperator) return none;
  if (await some(listListings({ query: { userId, ...ONE }, signal }))) return { ...none, hasListings: true };
  const [hasApplied, hasResults, hasSaved, hasPortfolios, hasDevices] = await Promise.all([
    some(listApplications({ path, query: ONE, signal })),
    session.isPerson ? some(listVerifications({ query: ONE, signal })) : false,
    some(getSavedListings({ path, signal }).then(({ savedListings }) => savedListings.ListingIds.SS)),
    some(listUserPortfolios({ path, query: ONE, signal })),
    some(listDevicesByUser({ path, query: ONE, signal })),
  ]);
  return { ...none, isApplicant: hasApplied || hasResults || hasSaved, hasInvestments: hasPortfolios || hasDevices };
}
