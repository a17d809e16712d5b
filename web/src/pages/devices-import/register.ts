// Registers many devices, a batch at a time. The service takes a batch whole or names the rows that it refuses; the rest
// is then sent without them.
import { faultMessage } from '$lib/api/faults';
import { ApiError, ConnectionError, errorMessage, isAbort } from '$lib/api/problem';
import { m } from '$lib/i18n';
import type { Row } from './rows';

export type Result = { state: 'sending' } | { state: 'done' } | { state: 'taken' | 'failed'; reason: string };

export interface RegisterDeps {
  /** Registers all devices of one user, or none. */
  send: (userId: string, rows: readonly Row[]) => Promise<unknown>;
  report: (row: Row, result: Result | undefined) => void;
  wait: (ms: number) => Promise<void>;
  /** When it returns true, no further rows are sent. */
  isStopped: () => boolean;
}

/** Small enough to show progress and to be stopped. */
const BATCH_SIZE = 100;
const MAX_ATTEMPTS = 6;

/** Resolves when all rows are done or it is stopped; rejects when the service is unreachable. */
export async function registerAll(rows: readonly Row[], deps: RegisterDeps): Promise<void> {
  for (const batch of toBatches(rows)) {
    if (deps.isStopped()) return;
    await registerBatch(batch, deps);
  }
}

async function registerBatch(batch: readonly Row[], { send, report, wait }: RegisterDeps): Promise<void> {
  let left = batch;
  const reportAll = (result: Result | undefined) => left.forEach((row) => report(row, result));
  reportAll({ state: 'sending' });
  for (let attempt = 1; left.length > 0;) {
    try {
      await send(left[0]?.userId ?? '', left);
      return reportAll({ state: 'done' });
    } catch (error) {
      if (error instanceof ConnectionError || isAbort(error)) {
        reportAll(undefined);
        throw error;
      }
      const refused = refusedRows(error, left);
      for (const [row, result] of refused) report(row, result);
      left = left.filter((row) => !refused.has(row));
      if (refused.size > 0) continue;
      const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503);
      if (!isBusy || attempt === MAX_ATTEMPTS) return reportAll({ state: 'failed', reason: errorMessage(error) });
      await wait(500 * 2 ** attempt++);
    }
  }
}

/** Rows of one owner each, in the order of the file. */
function toBatches(rows: readonly Row[]): Row[][] {
  const batches: Row[][] = [];
  const open = new Map<string, Row[]>();
  for (const row of rows) {
    let batch = open.get(row.userId);
    if (!batch || batch.length === BATCH_SIZE) {
      batch = [];
      open.set(row.userId, batch);
      batches.push(batch);
    }
    batch.push(row);
  }
  return batches;
}

/** The rows that the errors name: `/devices/3`, `/devices/3/network`. */
function refusedRows(error: unknown, rows: readonly Row[]): Map<Row, Result> {
  const refused = new Map<Row, Result>();
  for (const fault of error instanceof ApiError ? error.fieldErrors : []) {
    const [, index = '', field] = /^\/devices\/(\d+)(?:\/(\w+))?$/.exec(fault.pointer ?? '') ?? [];
    const row = index === '' ? undefined : rows[Number(index)];
    if (!row) continue;
    const before = refused.get(row);
    const message = faultMessage(fault);
    const reasons = [
      before && 'reason' in before ? before.reason : '',
      field ? m.faults_of_field({ field, message }) : message,
    ];
    const reason = reasons.filter(Boolean).join(' ');
    refused.set(
      row,
      fault.code === 'device_exists'
        ? { state: 'taken', reason: m.devices_import_taken() }
        : { state: 'failed', reason },
    );
  }
  return refused;
}
