// Loads applications for several pages.
import {
  ApiError,
  getApplication,
  listApplicationRecords,
  listApplications,
  tagged,
  type Application,
  type ApplicationSummary,
  type Record as ChainRecord,
} from '../api';
import { m } from '../i18n';

/** A user's applications, newest first. A listing may occur several times: withdrawn, and applied for again. */
export async function loadApplications(userId: string, signal?: AbortSignal): Promise<ApplicationSummary[]> {
  return (await listApplications({ path: { userId }, signal })).reverse();
}

/** Whether the API can return the whole application: the newest one to a listing, also if that was deleted. */
export function isReadable(application: ApplicationSummary, newestFirst: readonly ApplicationSummary[]): boolean {
  const newest = newestFirst.find(({ listingId }) => listingId === application.listingId);
  return newest?.id === application.id;
}

export interface LoadedApplication {
  application: Application;
  /** Of the version that was read, for `If-Match`. */
  etag: string;
  /** Of the flags; absent before a verification, and once nothing is shared. */
  record?: ChainRecord;
}

export async function loadApplication(
  userId: string,
  listingId: string,
  signal?: AbortSignal,
): Promise<LoadedApplication> {
  const path = { userId, listingId };
  const [{ data: application, etag }, [record]] = await Promise.all([
    tagged((fetch) => getApplication({ path, signal, fetch })),
    listApplicationRecords({ path, signal }),
  ]);
  return { application, etag, record: application.sharing.active ? record : undefined };
}

/** Resource options that poll while the record is pending. */
export const POLL_UNTIL_MINED = {
  pollMs: 1_500,
  isDone: (found: { record?: ChainRecord } | null) => found?.record?.status !== 'pending',
};

const CONFLICTS: Partial<Record<ApiError['code'], string>> = {
  application_decided: m.rental_conflict_decided(),
  application_withdrawn: m.rental_conflict_withdrawn(),
  application_closed: m.rental_conflict_closed(),
  check_not_valid: m.rental_conflict_check(),
  precondition_failed: m.rental_conflict_changed(),
};

/** Explains a 409 or 412 that a reload resolves; undefined for other errors. */
export function conflictMessage(error: unknown): string | undefined {
  return error instanceof ApiError ? CONFLICTS[error.code] : undefined;
}
