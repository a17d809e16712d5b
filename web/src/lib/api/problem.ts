// Errors of API calls. Problem details (RFC 9457) become an Error that pages can show.
import type { FieldError, Problem } from './generated';

export type { FieldError };

/** `unknown`: the response has no problem details, for example because a proxy sent it. */
export type ErrorCode = Problem['code'] | 'unknown';

/** Problem details of which any field can be missing. */
type PartialProblem = Partial<Omit<Problem, 'code'>> & { code?: ErrorCode };

export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly fieldErrors: FieldError[];
  readonly requestId: string | undefined;
  /** Seconds from the Retry-After header, if there is one. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: PartialProblem, retryAfter?: number) {
    super(toSentence(problem.detail ?? problem.title ?? 'the service could not answer'));
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
    super('The service cannot be reached. Check the connection and try again.');
    this.name = 'ConnectionError';
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Error messages of the service are lower case without a full stop; this makes them sentences. */
export function toSentence(message: string): string {
  const text = message.trim();
  if (text === '') return text;
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return 'Something went wrong.';
}
