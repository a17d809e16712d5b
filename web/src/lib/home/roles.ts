// The roles that have a home page, and what each needs first.
export const ROLES = ['landlord', 'applicant', 'investor', 'operator', 'developer', 'newcomer'] as const;
export type Role = (typeof ROLES)[number];

/** The pages that a role needs most, in this order: first in the navigation, and in the bar of a phone. */
export const FIRST_PAGES: Record<Role, readonly string[]> = {
  landlord: ['/my-listings', '/listings', '/screening'],
  applicant: ['/listings', '/saved', '/applications', '/screening'],
  investor: ['/portfolios', '/devices', '/listings'],
  operator: ['/operator/audit', '/chain', '/operator/users', '/operator/keys', '/operator/configuration', '/overview'],
  developer: ['/api', '/chain', '/listings'],
  newcomer: ['/listings', '/my-listings', '/portfolios'],
};

/** What a user has that tells who they are. */
export interface UserFacts {
  isOperator: boolean;
  hasListings: boolean;
  isApplicant: boolean;
  hasInvestments: boolean;
}

export function roleOf({ isOperator, hasListings, isApplicant, hasInvestments }: UserFacts): Role {
  if (isOperator) return 'operator';
  if (hasListings) return 'landlord';
  if (isApplicant) return 'applicant';
  return hasInvestments ? 'investor' : 'newcomer';
}

export function isRole(text: string | null | undefined): text is Role {
  return ROLES.includes(text as Role);
}

/** Sorts pages and groups of pages: what the role needs comes first, the rest stays in its order. */
export function byNeed<T>(items: readonly T[], role: Role | undefined, pathsOf: (item: T) => readonly string[]): T[] {
  const pages = role ? FIRST_PAGES[role] : [];
  const rank = (item: T) => {
    const index = pages.findIndex((page) => pathsOf(item).includes(page));
    return index < 0 ? pages.length : index;
  };
  return [...items].sort((a, b) => rank(a) - rank(b));
}
