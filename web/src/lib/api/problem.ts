// Errors of API calls. Problem details (RFC 9457) become an Error that pages can show.
import { m } from '../i18n';
import { ERROR_MESSAGES } from './error-messages';
import { faultMessage, toSentence, type ReportedFault } from './faults';
import type { Problem } from './generated';

/** `unknown`: the response has no problem details, for example because a proxy sent it. */
export type ErrorCode = Problem['code'] | 'unknown';

/** Problem details of which any field can be missing. */
type PartialProblem = Partial<Omit<Problem, 'code' | 'errors'>> & { code?: ErrorCode; errors?: ReportedFault[] };

export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly fieldErrors: ReportedFault[];
  readonly requestId: string | undefined;
  /** Seconds from the Retry-After header, if there is one. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: PartialProblem, retryAfter?: number) {
    super(describe(problem));
    this.name = 'ApiError';
    this.status = status;
    this.code = problem.code ?? 'unknown';
    this.fieldErrors = problem.errors ?? [];
    this.requestId = problem.requestId;
    this.retryAfter = retryAfter;
  }
}

/** The service did not respond. */
export class ConnectionError extends Error {
  constructor() {
    super(m.faults_silent());
    this.name = 'ConnectionError';
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** An error that the console does not know shows the service's own words. */
function describe({ code, detail, title, errors }: PartialProblem): string {
  if (code === 'invalid_request' && errors && errors.length > 0) return errors.map(faultMessage).join(' ');
  const words = code && Object.hasOwn(ERROR_MESSAGES, code) ? ERROR_MESSAGES[code as Problem['code']] : undefined;
  return words?.() ?? toSentence(detail ?? title ?? m.faults_no_answer());
}

export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return m.faults_unknown();
}
