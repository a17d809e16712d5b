// Form values of a new listing, their request body, and how they are shown before they are recorded. Fields have the
// names of the request.
import type { RecordListingData } from '$lib/api';
import { exactMoney, number } from '$lib/format';
import { readDegrees, readNumber, valueOf } from '$lib/format/read-number';
import { m } from '$lib/i18n';
import { fieldLabel } from '$lib/listings/history';
import {
  checkAddress,
  checkLink,
  checkNumber,
  checkPlace,
  checkRequired,
  checkTerms,
  NUMBER_RULES,
} from '$lib/listings/rules';

export type Body = RecordListingData['body'];

const AMOUNT_FIELDS = [
  'monthlyPayment',
  'propertyValue',
  'minCredit',
  'prefCredit',
  'minIncome',
  'prefIncome',
] as const;
const DEGREE_FIELDS = ['latitude', 'longitude'] as const;
const TEXT_FIELDS = ['addressStreet', 'addressCity', 'addressState', 'addressPostal', 'walkthroughLink', 'id'] as const;
const REQUIRED = ['addressStreet', 'addressCity', 'addressState', 'addressPostal'] as const;

type Field = (typeof AMOUNT_FIELDS)[number] | (typeof DEGREE_FIELDS)[number] | (typeof TEXT_FIELDS)[number];
export type Values = Record<Field, string>;

/** The values of the fields that new and edited listings share. */
export type TermsValues = Pick<Values, 'minCredit' | 'prefCredit' | 'minIncome' | 'prefIncome'>;
export type PlaceValues = Pick<Values, 'latitude' | 'longitude'>;

export function emptyValues(): Values {
  return Object.fromEntries([...TEXT_FIELDS, ...AMOUNT_FIELDS, ...DEGREE_FIELDS].map((name) => [name, ''])) as Values;
}

/** All faults, by field. `country`: of listings that name none. */
export function validateNew(values: Values, country: string): Record<string, string> {
  const errors: Record<string, string> = {};
  checkRequired(errors, values, REQUIRED);
  checkAddress(
    errors,
    { country, state: values.addressState, postalCode: values.addressPostal },
    { state: 'addressState', postalCode: 'addressPostal' },
  );
  checkNumber(errors, values, NUMBER_RULES.rent('monthlyPayment', true));
  checkNumber(errors, values, NUMBER_RULES.value);
  checkTerms(errors, values);
  checkPlace(errors, values);
  checkLink(errors, 'walkthroughLink', values.walkthroughLink);
  return errors;
}

/** Omits empty fields, so that the service reports missing ones or uses its defaults. */
export function toRequestBody(values: Values, userId: string): Body {
  const body: Record<string, string | number> = { userId };
  const isGiven = (name: Field) => values[name].trim() !== '';
  for (const name of TEXT_FIELDS.filter(isGiven)) body[name] = values[name];
  for (const name of AMOUNT_FIELDS.filter(isGiven)) body[name] = valueOf(readNumber(values[name]));
  for (const name of DEGREE_FIELDS.filter(isGiven)) body[name] = valueOf(readDegrees(values[name]));
  return body as unknown as Body;
}

/** What will be recorded, as it was understood. */
export function summarize(body: Body, currency: string): { label: string; value: string }[] {
  const income = (value: number | null | undefined) =>
    value ? m.landlord_income_a_year({ amount: exactMoney(value, currency) }) : m.common_no_requirement();
  const credit = (value: number | null | undefined) => (value ? number(value) : m.common_no_requirement());
  const place =
    typeof body.latitude === 'number'
      ? `${number(body.latitude, 6)}, ${number(body.longitude ?? 0, 6)}`
      : m.landlord_no_place();
  const optional = [
    {
      label: fieldLabel('propertyValue'),
      value: typeof body.propertyValue === 'number' ? exactMoney(body.propertyValue, currency) : '',
    },
    { label: fieldLabel('walkthroughLink'), value: body.walkthroughLink ?? '' },
    { label: m.common_listing_id(), value: body.id ?? '' },
  ];
  return [
    {
      label: m.landlord_address_title(),
      value: `${body.addressStreet}, ${body.addressCity}, ${body.addressState} ${body.addressPostal}`,
    },
    {
      label: fieldLabel('monthlyRent'),
      value: m.common_rent_a_month({ rent: exactMoney(body.monthlyPayment, currency) }),
    },
    { label: fieldLabel('minCredit'), value: credit(body.minCredit) },
    { label: fieldLabel('prefCredit'), value: credit(body.prefCredit) },
    { label: fieldLabel('minIncome'), value: income(body.minIncome) },
    { label: fieldLabel('prefIncome'), value: income(body.prefIncome) },
    { label: m.landlord_place_title(), value: place },
    ...optional.filter(({ value }) => value !== ''),
  ];
}
