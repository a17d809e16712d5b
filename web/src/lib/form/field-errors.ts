// Assigns the errors of an API response to form fields. Fields have the names of the API: `city`,
// `protocolItems/0/protocolName`.
import { faultMessage, type ReportedFault } from '../api/faults';
import { ApiError, errorMessage } from '../api/problem';
import { m } from '../i18n';

export interface AssignedErrors {
  /** Message by field name. */
  fields: Record<string, string>;
  /** Message for the whole form; empty if every error belongs to a field. */
  form: string;
}

export function fieldName(fieldError: Pick<ReportedFault, 'pointer' | 'parameter'>): string {
  if (fieldError.pointer === undefined) return fieldError.parameter ?? '';
  return fieldError.pointer
    .split('/')
    .slice(1)
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'))
    .join('/');
}

/** `known` are the top-level field names of the form; `aliases` maps other names that the API uses to them. */
export function assignErrors(error: unknown, known: string[], aliases: Record<string, string> = {}): AssignedErrors {
  if (!(error instanceof ApiError) || error.fieldErrors.length === 0) return { fields: {}, form: errorMessage(error) };
  const fields: Record<string, string> = {};
  const formMessages: string[] = [];
  for (const fieldError of error.fieldErrors) {
    const apiName = fieldName(fieldError);
    const name = aliases[apiName] ?? apiName;
    if (!known.includes(name.split('/')[0] ?? ''))
      formMessages.push(
        apiName ? m.faults_of_field({ field: apiName, message: faultMessage(fieldError) }) : faultMessage(fieldError),
      );
    // Show only the first error of a field.
    else fields[name] ??= faultMessage(fieldError);
  }
  return { fields, form: formMessages.join(' ') };
}
