// Loads applications and their flags for several pages.
import {
  checkApplication,
  listApplicationRecords,
  listApplications,
  type Application,
  type ApplicationCheck,
  type Record as ChainRecord,
} from '../api';

/** A user's applications, newest first. */
export async function loadApplications(userId: string, signal?: AbortSignal): Promise<Application[]> {
  return (await listApplications({ path: { userId }, signal })).reverse();
}

/** The four flags of an application and their chain record. */
export interface ApplicationFlags {
  /** Absent until the applicant is verified. */
  record?: ChainRecord;
  /** Absent while the record is not mined. */
  check?: ApplicationCheck;
}

export async function loadFlags(userId: string, listingId: string, signal?: AbortSignal): Promise<ApplicationFlags> {
  const path = { userId, listingId };
  const [record] = await listApplicationRecords({ path, signal });
  const isReadable = !record || record.status === 'mined';
  return { record, check: isReadable ? await checkApplication({ path, signal }) : undefined };
}

/** Resource options that poll while the record is pending. */
export const POLL_UNTIL_MINED = {
  pollMs: 1_500,
  isDone: (found: { record?: ChainRecord } | null) => found?.record?.status !== 'pending',
};
