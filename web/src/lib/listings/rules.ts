// The rules of a listing's form, for new and edited listings. All faults are found at once; the service checks again.
import { belowMinimum, enterField, outOfRange as outOfRangeMessage } from '../api/faults';
import { number } from '../format';
import { explain, readDegrees, readNumber, toInput, valueOf, type Reading } from '../format/read-number';
import { m } from '../i18n';
import { isUsPostalCode, isUsState, isUnitedStates } from './places';

export type Errors = Record<string, string>;

interface NumberRule {
  name: string;
  max: number;
  decimals?: number;
  required?: boolean;
}

const MAX_MONEY = 99_999_999_999;
const MAX_ROOMS = 1_000;
const MAX_CREDIT = 1_000;

export const NUMBER_RULES = {
  rent: (name: string, required = false): NumberRule => ({
    name,
    max: MAX_MONEY,
    decimals: 2,
    required,
  }),
  value: { name: 'propertyValue', max: MAX_MONEY, decimals: 2 },
  bedrooms: { name: 'bedRoomCount', max: MAX_ROOMS, decimals: 0 },
  bathrooms: { name: 'bathroomCount', max: MAX_ROOMS, decimals: 0 },
} as const;

const TERM_RULES: readonly NumberRule[] = [
  { name: 'minCredit', max: MAX_CREDIT, decimals: 0 },
  { name: 'prefCredit', max: MAX_CREDIT, decimals: 0 },
  { name: 'minIncome', max: MAX_MONEY, decimals: 2 },
  { name: 'prefIncome', max: MAX_MONEY, decimals: 2 },
];

export function checkRequired(errors: Errors, values: Record<string, string>, names: readonly string[]): void {
  for (const name of names) if ((values[name] ?? '').trim() === '') errors[name] ??= enterField(name);
}

export function checkNumber(errors: Errors, values: Record<string, string>, rule: NumberRule): void {
  const reading = readNumber(values[rule.name] ?? '');
  if (reading.state === 'empty') {
    if (rule.required) errors[rule.name] = enterField(rule.name);
    return;
  }
  const message = explain(reading) ?? outOfRange(reading, rule);
  if (message) errors[rule.name] = message;
}

function outOfRange(reading: Reading, { max, decimals }: NumberRule): string | undefined {
  if (reading.state !== 'read') return undefined;
  const { value } = reading;
  if (value < 0 || value > max) return outOfRangeMessage(0, max);
  if (decimals === 0 && !Number.isInteger(value)) return m.faults_not_whole();
  if (decimals !== undefined && Number(value.toFixed(decimals)) !== value)
    return m.faults_too_precise({ count: decimals, n: number(decimals) });
  return undefined;
}

/** Numbers in range, and what is preferred is not below the minimum. */
export function checkTerms(errors: Errors, values: Record<string, string>): void {
  for (const rule of TERM_RULES) checkNumber(errors, values, rule);
  for (const [minimum, preferred] of [
    ['minCredit', 'prefCredit'],
    ['minIncome', 'prefIncome'],
  ] as const) {
    const [low, high] = [readNumber(values[minimum] ?? ''), readNumber(values[preferred] ?? '')];
    if (low.state === 'read' && high.state === 'read' && high.value < low.value)
      errors[preferred] ??= belowMinimum(preferred);
  }
}

/** Both coordinates or none, each in its range. */
export function checkPlace(errors: Errors, values: Record<string, string>): void {
  const [latitude, longitude] = [values.latitude ?? '', values.longitude ?? ''];
  for (const [name, text, limit] of [
    ['latitude', latitude, 90],
    ['longitude', longitude, 180],
  ] as const) {
    const reading = readDegrees(text);
    if (reading.state === 'invalid') errors[name] = m.faults_degrees({ example: toInput(30.2672) });
    else if (reading.state === 'read' && Math.abs(reading.value) > limit)
      errors[name] = outOfRangeMessage(-limit, limit);
  }
  const isEmpty = [latitude, longitude].map((text) => text.trim() === '');
  if (isEmpty[0] !== isEmpty[1]) errors[isEmpty[0] ? 'latitude' : 'longitude'] ??= m.faults_half_a_place();
}

/** States and postal codes are known for the United States alone. */
export function checkAddress(
  errors: Errors,
  { country, state, postalCode }: { country: string; state: string; postalCode: string },
  names: { state: string; postalCode: string },
): void {
  if (!isUnitedStates(country)) return;
  if (state.trim() !== '' && !isUsState(state)) errors[names.state] ??= m.faults_us_state();
  if (postalCode.trim() !== '' && !isUsPostalCode(postalCode)) errors[names.postalCode] ??= m.faults_us_postal_code();
}

export function checkLink(errors: Errors, name: string, text: string): void {
  const trimmed = text.trim();
  if (trimmed === '') return;
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) errors[name] = m.faults_not_a_link();
}

/** The place of the form, if it is one. */
export function placeOf(values: { latitude: string; longitude: string }): [number, number] | undefined {
  const place = [readDegrees(values.latitude), readDegrees(values.longitude)].map(valueOf);
  const [latitude = NaN, longitude = NaN] = place;
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? [latitude, longitude] : undefined;
}
