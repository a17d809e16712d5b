// The states of the United States, and the form of its postal codes.
const STATES: Record<string, string> = {
  AL: 'Alabama',
  AK: 'Alaska',
  AZ: 'Arizona',
  AR: 'Arkansas',
  CA: 'California',
  CO: 'Colorado',
  CT: 'Connecticut',
  DE: 'Delaware',
  DC: 'District of Columbia',
  FL: 'Florida',
  GA: 'Georgia',
  HI: 'Hawaii',
  ID: 'Idaho',
  IL: 'Illinois',
  IN: 'Indiana',
  IA: 'Iowa',
  KS: 'Kansas',
  KY: 'Kentucky',
  LA: 'Louisiana',
  ME: 'Maine',
  MD: 'Maryland',
  MA: 'Massachusetts',
  MI: 'Michigan',
  MN: 'Minnesota',
  MS: 'Mississippi',
  MO: 'Missouri',
  MT: 'Montana',
  NE: 'Nebraska',
  NV: 'Nevada',
  NH: 'New Hampshire',
  NJ: 'New Jersey',
  NM: 'New Mexico',
  NY: 'New York',
  NC: 'North Carolina',
  ND: 'North Dakota',
  OH: 'Ohio',
  OK: 'Oklahoma',
  OR: 'Oregon',
  PA: 'Pennsylvania',
  RI: 'Rhode Island',
  SC: 'South Carolina',
  SD: 'South Dakota',
  TN: 'Tennessee',
  TX: 'Texas',
  UT: 'Utah',
  VT: 'Vermont',
  VA: 'Virginia',
  WA: 'Washington',
  WV: 'West Virginia',
  WI: 'Wisconsin',
  WY: 'Wyoming',
  AS: 'American Samoa',
  GU: 'Guam',
  MP: 'Northern Mariana Islands',
  PR: 'Puerto Rico',
  VI: 'U.S. Virgin Islands',
};
const NAMES = Object.values(STATES);

export function isUnitedStates(country: string): boolean {
  return ['us', 'usa', 'united states', 'united states of america'].includes(country.trim().toLowerCase());
}

/** A code or a name: `TX`, `Texas`. */
export function isUsState(text: string): boolean {
  return usStateName(text) !== undefined;
}

export function usStateName(text: string): string | undefined {
  const trimmed = text.trim();
  const code = trimmed.toUpperCase();
  if (Object.hasOwn(STATES, code)) return STATES[code];
  return NAMES.find((name) => name.toLowerCase() === trimmed.toLowerCase());
}

/** Five digits, or nine as `78701-1234`. */
export function isUsPostalCode(text: string): boolean {
  return /^\d{5}(?:-\d{4})?$/.test(text.trim());
}
