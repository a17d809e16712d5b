// What the service says when it refuses: RFC 9457, turned into an Error that pages can show.
import type { FieldError, Problem } from './generated';

export type { FieldError };

/** `unknown`: what answered was not the service. */
export type ErrorCode = Problem['code'] | 'unknown';

/** A problem, or what is known of one. */
type Known = Partial<Omit<Problem, 'code'>> & { code?: ErrorCode };

export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly faults: FieldError[];
  readonly requestId: string | undefined;
  /** After how many seconds it is worth trying again, if the service says so. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: Known, retryAfter?: number) {
    super(sentence(problem.detail ?? problem.title ?? 'the service could not answer'));
    this.name = 'ApiError';
    this.status = status;
    this.code = problem.code ?? 'unknown';
    this.faults = problem.errors ?? [];
    this.requestId = problem.requestId;
    this.retryAfter = retryAfter;
  }
}

/** No answer came at all. */
export class ConnectionError extends Error {
  constructor() {
    super('The service cannot be reached. Check the connection and try again.');
    this.name = 'ConnectionError';
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The service speaks in lower case without a full stop; people read sentences. */
export function sentence(words: string): string {
  const text = words.trim();
  if (text === '') return text;
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

export function describe(error: unknown): string {
  if (error instanceof Error) return error.message;
  return 'Something went wrong.';
}
