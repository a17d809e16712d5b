// The demo users of the sandbox. Any other user id can be typed.
export interface Person {
  userId: string;
  name: string;
  role: string;
  operator?: boolean;
}

export const PEOPLE: readonly Person[] = [
  { userId: 'ada', name: 'Ada Okafor', role: 'Lists homes in Texas' },
  { userId: 'ben', name: 'Ben Castillo', role: 'Looks for a home' },
  { userId: 'chloe', name: 'Chloe Lindqvist', role: 'Invests in networks' },
  { userId: 'dev', name: 'Dev Raman', role: 'Runs devices' },
  { userId: 'operator', name: 'Operator', role: 'Looks after this service', operator: true },
];

export function getPerson(userId: string): Person {
  return PEOPLE.find((person) => person.userId === userId) ?? { userId, name: userId, role: 'Sandbox user' };
}

export function initials(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...(word ?? '')][0]?.toUpperCase() ?? '').join('');
}
