import { expect, test } from 'vitest';
import { emptyValues, summarize, toRequestBody, validateNew } from './body';

const valid = {
  ...emptyValues(),
  addressStreet: '12 Oak Street',
  addressCity: 'Austin',
  addressState: 'TX',
  addressPostal: '78701',
  monthlyPayment: '1,850',
};

test('empty fields are left out, numbers become numbers', () => {
  const values = { ...emptyValues(), addressStreet: '12 Oak Street', monthlyPayment: '$1,850.50', latitude: '-30.5' };
  expect(toRequestBody(values, 'ada')).toEqual({
    userId: 'ada',
    addressStreet: '12 Oak Street',
    monthlyPayment: 1850.5,
    latitude: -30.5,
  });
});

test('all faults are reported at once', () => {
  const values = {
    ...emptyValues(),
    addressState: 'ZZ',
    addressPostal: '787O1',
    monthlyPayment: '1.850',
    minCredit: 'high',
    prefCredit: '1001',
    minIncome: '50,000',
    prefIncome: '40 000',
    latitude: '91',
    walkthroughLink: 'javascript:alert(1)',
  };
  expect(validateNew(values, 'US')).toEqual({
    addressStreet: 'Enter the street.',
    addressCity: 'Enter the city.',
    addressState: 'Enter a state, such as TX or Texas.',
    addressPostal: 'Enter a postal code of five digits, such as 78701.',
    monthlyPayment: 'Do you mean 1,850 or 1.85?',
    minCredit: 'Enter a number, such as 1,850.50.',
    prefCredit: 'Enter a number from 0 to 1,000.',
    prefIncome: 'Preferred income must be at least the minimum.',
    latitude: 'Enter a number from -90 to 90.',
    longitude: 'Enter both latitude and longitude, or neither.',
    walkthroughLink: 'Enter a link that begins with https:// or http://.',
  });
  expect(validateNew(valid, 'US')).toEqual({});
});

test('state names and long postal codes are known, others are not checked', () => {
  expect(validateNew({ ...valid, addressState: 'new york', addressPostal: '10001-1234' }, 'US')).toEqual({});
  expect(validateNew({ ...valid, addressState: 'Bayern', addressPostal: 'D-80331' }, 'DE')).toEqual({});
});

test('the summary names amounts with their cents', () => {
  const body = toRequestBody({ ...valid, minCredit: '620', minIncome: '50,000' }, 'ada');
  const shown = Object.fromEntries(summarize(body, 'USD').map(({ label, value }) => [label, value]));
  expect(shown).toMatchObject({
    Address: '12 Oak Street, Austin, TX 78701',
    'Monthly rent': '$1,850.00 a month',
    'Minimum credit': '620',
    'Preferred credit': 'None',
    'Minimum income': '$50,000.00 a year',
  });
});
