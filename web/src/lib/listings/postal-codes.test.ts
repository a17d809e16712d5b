import { expect, test } from 'vitest';
import { postalArea } from './postal-codes';

const statesOf = (postalCode: string) => {
  const area = postalArea(postalCode);
  return area && !area.isMilitary ? area.states : undefined;
};

test.each([
  ['78701', 'Texas'],
  ['78701-1234', 'Texas'],
  [' 73301 ', 'Texas'],
  ['88510', 'Texas'],
  ['73401', 'Oklahoma'],
  ['10001', 'New York'],
  ['00501', 'New York'],
  ['02134', 'Massachusetts'],
  ['05501', 'Massachusetts'],
  ['05601', 'Vermont'],
  ['20101', 'Virginia'],
  ['20500', 'District of Columbia'],
  ['56901', 'District of Columbia'],
  ['33101', 'Florida'],
  ['34101', 'Florida'],
  ['39901', 'Georgia'],
  ['60601', 'Illinois'],
  ['80202', 'Colorado'],
  ['90001', 'California'],
  ['96813', 'Hawaii'],
  ['99950', 'Alaska'],
  ['00601', 'Puerto Rico'],
  ['00801', 'U.S. Virgin Islands'],
])('%s is of %s', (postalCode, state) => {
  expect(statesOf(postalCode)).toEqual([state]);
});

test('a prefix across a border has both states', () => {
  expect(statesOf('06390')).toEqual(['Connecticut', 'New York']);
  expect(statesOf('83414')).toEqual(['Idaho', 'Wyoming']);
  expect(statesOf('96799')).toEqual(['Hawaii', 'American Samoa']);
  expect(statesOf('96950')).toEqual(['Guam', 'Northern Mariana Islands']);
});

test('military mail is of no state', () => {
  for (const postalCode of ['09012', '34001', '96201', '96601']) expect(postalArea(postalCode)?.isMilitary).toBe(true);
});

test('an unassigned prefix and other text have no area', () => {
  for (const text of ['', '00401', '34301', '71501', '89901', '7', 'M5V 2T6']) expect(postalArea(text)).toBeUndefined();
});
