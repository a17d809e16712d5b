// The terms of a listing as its conditions show them.
import type { ListingTerms } from '$lib/api';
import { money, number } from '$lib/format';
import { m } from '$lib/i18n';
import { session } from '$lib/session/session.svelte';

const TERMS = [
  { name: 'minCredit', label: m.rental_field_min_credit },
  { name: 'prefCredit', label: m.rental_field_pref_credit },
  { name: 'minIncome', label: m.rental_field_min_income },
  { name: 'prefIncome', label: m.rental_field_pref_income },
] as const;

/** Terms of 0 ask for nothing. */
export function termItems(
  terms: ListingTerms | null | undefined,
  currency = session.config.currency,
): { label: string; value: string }[] {
  if (!terms) return [];
  return TERMS.filter(({ name }) => terms[name] > 0).map(({ name, label }) => ({
    label: label(),
    value: name.endsWith('Credit') ? number(terms[name]) : money(terms[name], currency),
  }));
}
