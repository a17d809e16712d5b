// The demo users of the sandbox. Any other user id can be typed.
import { m } from '../i18n';

export interface Person {
  userId: string;
  name: string;
  role: string;
  operator?: boolean;
}

export const PEOPLE: readonly Person[] = [
  { userId: 'ada', name: 'Ada Okafor', role: m.shell_role_landlord() },
  { userId: 'ben', name: 'Ben Castillo', role: m.shell_role_applicant() },
  { userId: 'chloe', name: 'Chloe Lindqvist', role: m.shell_role_investor() },
  { userId: 'dev', name: 'Dev Raman', role: m.shell_role_device_owner() },
  { userId: 'operator', name: m.shell_operator(), role: m.shell_role_operator(), operator: true },
];

export function getPerson(userId: string): Person {
  return PEOPLE.find((person) => person.userId === userId) ?? { userId, name: userId, role: m.shell_role_other() };
}

export function initials(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...(word ?? '')][0]?.toUpperCase() ?? '').join('');
}
