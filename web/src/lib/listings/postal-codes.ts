// To which state the first three digits of a US postal code belong. After the prefix list of the Postal Service.
import { usStateName } from './places';

/** First prefixes of runs that end where the next one begins. A run without a state is not assigned. */
const RUNS = `005 NY,006 PR,008 VI,009 PR,010 MA,028 RI,030 NH,039 ME,050 VT,055 MA,056 VT,060 CT,063 CT NY,064 CT,
070 NJ,090 AE,100 NY,150 PA,197 DE,200 DC,201 VA,202 DC,206 MD,220 VA,247 WV,269,270 NC,290 SC,300 GA,320 FL,340 AA,
341 FL,343,344 FL,345,346 FL,348,349 FL,350 AL,370 TN,386 MS,398 GA,400 KY,428,430 OH,460 IN,480 MI,500 IA,529,530 WI,
550 MN,568,569 DC,570 SD,578,580 ND,589,590 MT,600 IL,630 MO,659,660 KS,680 NE,694,700 LA,715,716 AR,730 OK,733 TX,
734 OK,750 TX,800 CO,817,820 WY,832 ID,834 ID WY,835 ID,839,840 UT,848,850 AZ,866,870 NM,885 TX,886,889 NV,899,900 CA,
962 AP,967 HI AS,968 HI,969 GU MP,970 OR,980 WA,995 AK`;

/** Mail to service members abroad. */
const MILITARY = ['AA', 'AE', 'AP'];

export type PostalArea = { isMilitary: true } | { isMilitary: false; states: string[] };

interface Run {
  first: number;
  codes: string[];
}

const runs: Run[] = RUNS.split(',').map((run) => {
  const [first, ...codes] = run.trim().split(' ');
  return { first: Number(first), codes };
});

/** The states by their names: more than one where a prefix crosses a border. Undefined if nobody has the prefix. */
export function postalArea(postalCode: string): PostalArea | undefined {
  const prefix = /^\d{3}/.exec(postalCode.trim())?.[0];
  if (prefix === undefined) return undefined;
  const codes = runs.findLast(({ first }) => first <= Number(prefix))?.codes ?? [];
  if (codes.some((code) => MILITARY.includes(code))) return { isMilitary: true };
  const states = codes.map(usStateName).filter((name) => name !== undefined);
  return states.length > 0 ? { isMilitary: false, states } : undefined;
}
