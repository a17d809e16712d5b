// What is wrong with a value, in the language of the page: for the faults that the service reports, and for those that
// forms find themselves. `npm run check` fails if a code has no message.
import { number } from '../format';
import { m } from '../i18n';
import type { FieldError } from './generated';

export type FaultCode = FieldError['code'];

interface Fault {
  /** The field that it is about, with its article; undefined if it has no name. */
  field?: string;
  /** The field's name in the API. */
  name: string;
  min?: number;
  max?: number;
}

/** A field with its article, to be used in a sentence: `the street`. */
const FIELDS: Record<string, () => string> = {
  streetAddress: m.faults_field_street,
  addressStreet: m.faults_field_street,
  StreetAddress: m.faults_field_street,
  city: m.faults_field_city,
  addressCity: m.faults_field_city,
  City: m.faults_field_city,
  state: m.faults_field_state,
  addressState: m.faults_field_state,
  State: m.faults_field_state,
  postalCode: m.faults_field_postal_code,
  addressPostal: m.faults_field_postal_code,
  PostalCode: m.faults_field_postal_code,
  country: m.faults_field_country,
  addressCountry: m.faults_field_country,
  CountryIdentifier: m.faults_field_country,
  monthlyRent: m.faults_field_rent,
  monthlyPayment: m.faults_field_rent,
  propertyValue: m.faults_field_value,
  bedRoomCount: m.faults_field_bedrooms,
  bathroomCount: m.faults_field_bathrooms,
  latitude: m.faults_field_latitude,
  longitude: m.faults_field_longitude,
  minCredit: m.faults_field_min_credit,
  prefCredit: m.faults_field_pref_credit,
  minIncome: m.faults_field_min_income,
  prefIncome: m.faults_field_pref_income,
  FirstName: m.faults_field_first_name,
  firstName: m.faults_field_first_name,
  LastName: m.faults_field_last_name,
  lastName: m.faults_field_last_name,
  DateOfBirth: m.faults_field_date_of_birth,
  SSN: m.faults_field_ssn,
  Email: m.faults_field_email,
  OpenBankingSubscriptionId: m.faults_field_bank_subscription,
  OpenBankingToken: m.faults_field_bank_token,
  name: m.faults_field_name,
  riskLevel: m.faults_field_risk_level,
  protocolItems: m.faults_field_protocol_items,
  protocolName: m.faults_field_protocol_name,
  protocolIdentifier: m.faults_field_protocol_identifier,
  allocationPercentage: m.faults_field_share,
  network: m.faults_field_network,
  deviceIdentifier: m.faults_field_device,
  userId: m.faults_field_user,
  id: m.faults_field_listing,
  listingId: m.faults_field_listing,
  reasons: m.faults_field_reasons,
  note: m.faults_field_note,
  description: m.faults_field_description,
  Id: m.faults_field_verified_id,
  caseId: m.faults_field_case,
  walletId: m.faults_field_wallet,
  availableFrom: m.faults_field_date,
  expiresAt: m.faults_field_date,
};

const enter = ({ field }: Fault) => (field ? m.faults_enter({ field }) : m.faults_enter_value());

const MESSAGES: Record<FaultCode, (fault: Fault) => string> = {
  missing: enter,
  empty: enter,
  required: ({ field }) => (field ? m.faults_required({ field }) : m.faults_enter_value()),
  repeated: () => m.faults_repeated(),
  wrong_type: () => m.faults_wrong_type(),
  too_long: ({ max = 0 }) => m.faults_too_long({ max: number(max) }),
  too_many: ({ max = 0 }) => m.faults_too_many({ max: number(max) }),
  control_character: () => m.faults_control_character(),
  outer_space: () => m.faults_outer_space(),
  invisible_character: () => m.faults_invisible_character(),
  not_normalized: () => m.faults_not_normalized(),
  not_text: () => m.faults_not_text(),
  not_a_number: () => m.faults_enter_number(),
  not_whole: () => m.faults_not_whole(),
  too_precise: ({ max = 0 }) => m.faults_too_precise({ count: max, n: number(max) }),
  out_of_range: ({ min, max }) =>
    min === undefined || max === undefined ? m.faults_not_allowed_value() : outOfRange(min, max),
  below_minimum: ({ name }) => belowMinimum(name),
  not_a_date: () => m.faults_not_a_date(),
  not_a_moment: () => m.faults_not_a_moment(),
  in_the_future: () => m.faults_in_the_future(),
  in_the_past: () => m.faults_in_the_past(),
  not_an_ssn: () => m.faults_not_an_ssn(),
  not_an_email: () => m.faults_not_an_email(),
  not_a_link: () => m.faults_not_a_link(),
  not_a_wallet: () => m.faults_not_a_wallet(),
  not_a_signature: () => m.faults_not_a_signature(),
  not_a_hash: () => m.faults_not_a_hash(),
  not_a_reference: () => m.faults_not_a_reference(),
  not_a_point: () => m.faults_not_a_point(),
  not_a_box: () => m.faults_not_a_box(),
  not_a_cursor: () => m.faults_not_a_cursor(),
  not_an_etag: () => m.faults_not_an_etag(),
  half_a_place: () => m.faults_half_a_place(),
  without_near: () => m.faults_without_near(),
  another_user: () => m.faults_another_user(),
  over_allocated: () => m.faults_over_allocated(),
  not_an_id: () => m.faults_not_an_id(),
  not_changeable: () => m.faults_not_changeable(),
  not_removable: () => m.faults_not_removable(),
  unknown_member: () => m.faults_unknown_member(),
  device_exists: () => m.faults_device_exists(),
  conditions_changed: () => m.faults_conditions_changed(),
  unknown_basis: () => m.faults_unknown_basis(),
  unknown_listing: () => m.faults_unknown_listing(),
  unknown_template: () => m.faults_unknown_template(),
  unknown_consent: () => m.faults_unknown_consent(),
  unknown_check: () => m.faults_unknown_check(),
  unknown_decision: () => m.faults_unknown_decision(),
  unknown_status: () => m.faults_unknown_status(),
  unknown_order: () => m.faults_unknown_order(),
  unknown_scope: () => m.faults_unknown_scope(),
  unknown_risk_level: () => m.faults_unknown_risk_level(),
  unknown_field: () => m.faults_unknown_field(),
  nothing_to_check: () => m.faults_nothing_to_check(),
  refused_by_bureau: () => m.faults_refused_by_bureau(),
  not_utf8: () => m.faults_unreadable(),
  not_json: () => m.faults_unreadable(),
  too_deep: () => m.faults_unreadable(),
};

export function outOfRange(min: number, max: number): string {
  return m.faults_out_of_range({ min: number(min), max: number(max) });
}

export function belowMinimum(name: string): string {
  if (name === 'prefCredit') return m.faults_pref_credit();
  return name === 'prefIncome' ? m.faults_pref_income() : m.faults_below_minimum();
}

/** For a field that was left empty: `Enter the street.` */
export function enterField(name: string): string {
  return enter({ name, field: FIELDS[name]?.() });
}

/** What a fault of the service says. One that the console does not know shows the service's own words. */
export function faultMessage({ pointer, parameter, code, message, min, max }: ReportedFault): string {
  const name = (pointer ?? parameter ?? '').split('/').findLast((part) => !/^\d*$/.test(part)) ?? '';
  const words = Object.hasOwn(MESSAGES, code) ? MESSAGES[code as FaultCode] : undefined;
  return words ? words({ name, field: FIELDS[name]?.(), min, max }) : toSentence(message);
}

/** As the service reports it; a newer one may have codes that this console does not know. */
export type ReportedFault = Omit<FieldError, 'code'> & { code: string };

/** Messages of the service are lower case without a full stop; this makes them sentences. */
export function toSentence(message: string): string {
  const text = message.trim();
  if (text === '') return text;
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}
