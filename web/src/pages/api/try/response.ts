// Shows a response: pretty JSON, and never a secret.
/** Fields of responses that hold a secret. */
const SECRET_FIELDS = new Set(['apikey', 'token', 'secret', 'authorization']);
const MAX_SHOWN_LENGTH = 50_000;

export const HIDDEN = '••••••••';

/** Formats JSON, hides the values of secret fields and the given secrets; other text stays as it is. */
export function presentBody(text: string, secrets: readonly (string | undefined)[] = []): string {
  return shortenText(hide(format(text), secrets));
}

export function presentHeaders(headers: Headers, secrets: readonly (string | undefined)[] = []): [string, string][] {
  return [...headers].map(([name, value]) => [name, SECRET_FIELDS.has(name) ? HIDDEN : hide(value, secrets)]);
}

function format(text: string): string {
  try {
    return JSON.stringify(
      JSON.parse(text, (name, value: unknown) => {
        const isSecret = typeof value === 'string' && value !== '' && SECRET_FIELDS.has(name.toLowerCase());
        return isSecret ? HIDDEN : value;
      }),
      null,
      2,
    );
  } catch {
    return text;
  }
}

function hide(text: string, secrets: readonly (string | undefined)[]): string {
  return secrets.reduce<string>((shown, secret) => (secret ? shown.replaceAll(secret, HIDDEN) : shown), text);
}

function shortenText(text: string): string {
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
