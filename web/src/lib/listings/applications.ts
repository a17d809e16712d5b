// Questions that several pages ask about applications.
import {
  checkApplication,
  listApplicationRecords,
  listApplications,
  type Application,
  type ApplicationCheck,
  type Record as ChainRecord,
} from '../api';

/** What somebody applied to, newest first. */
export async function applicationsOf(userId: string, signal?: AbortSignal): Promise<Application[]> {
  return (await listApplications({ path: { userId }, signal })).reverse();
}

/** The four flags of an application, and the record that carries them. */
export interface FlagsFound {
  /** Absent before a verification. */
  record?: ChainRecord;
  /** Absent until the chain has them. */
  check?: ApplicationCheck;
}

export async function flagsOf(userId: string, listingId: string, signal?: AbortSignal): Promise<FlagsFound> {
  const path = { userId, listingId };
  const [record] = await listApplicationRecords({ path, signal });
  const readable = !record || record.status === 'mined';
  return { record, check: readable ? await checkApplication({ path, signal }) : undefined };
}

/** For a resource: what is on its way is asked for until it has arrived. */
export const UNTIL_MINED = {
  every: 1_500,
  done: (found: { record?: ChainRecord } | null) => found?.record?.status !== 'pending',
};
