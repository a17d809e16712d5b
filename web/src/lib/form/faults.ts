// Which fault belongs to which field. A field is named as the service names it: `city`, `protocolItems/0/protocolName`.
import { ApiError, describe, sentence, type FieldError } from '../api/problem';

export interface SortedFaults {
  /** Words for each field. */
  fields: Record<string, string>;
  /** Words for the form as a whole; empty if every fault has its field. */
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

/** `known` are the first parts of the names that the form shows, `aliases` other names that the service may use. */
export function sortFaults(error: unknown, known: string[], aliases: Record<string, string> = {}): SortedFaults {
  if (!(error instanceof ApiError) || error.faults.length === 0) return { fields: {}, form: describe(error) };
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const fault of error.faults) {
    const given = nameOf(fault);
    const name = aliases[given] ?? given;
    if (!known.includes(name.split('/')[0] ?? '')) rest.push(sentence(`${given} ${fault.message}`.trim()));
    // The first fault of a field is the one to mend first.
    else fields[name] ??= sentence(fault.message);
  }
  return { fields, form: rest.join(' ') };
}
