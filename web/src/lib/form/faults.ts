// Assigns the errors of an API response to form fields. Fields have the names of the API: `city`,
// `protocolItems/0/protocolName`.
import { ApiError, describe, sentence, type FieldError } from '../api/problem';

export interface SortedFaults {
  /** Message by field name. */
  fields: Record<string, string>;
  /** Message for the whole form; empty if every error belongs to a field. */
  form: string;
}

export function nameOf(fault: FieldError): string {
  if (fault.pointer === undefined) return fault.parameter ?? '';
  return fault.pointer
    .split('/')
    .slice(1)
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'))
    .join('/');
}

/** `known` are the top-level field names of the form; `aliases` maps other names that the API uses to them. */
export function sortFaults(error: unknown, known: string[], aliases: Record<string, string> = {}): SortedFaults {
  if (!(error instanceof ApiError) || error.faults.length === 0) return { fields: {}, form: describe(error) };
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const fault of error.faults) {
    const given = nameOf(fault);
    const name = aliases[given] ?? given;
    if (!known.includes(name.split('/')[0] ?? '')) rest.push(sentence(`${given} ${fault.message}`.trim()));
    // Show only the first error of a field.
    else fields[name] ??= sentence(fault.message);
  }
  return { fields, form: rest.join(' ') };
}
