// What happened to a listing, in one order. Pure functions.
import type { Application, ListingDetails, ListingEdit, Record as ChainRecord } from '$lib/api';

export type TimelineEvent = { key: string; at: string } & (
  | { kind: 'listed' }
  | { kind: 'edited'; edit: ListingEdit }
  | { kind: 'application'; userId: string; status: string }
  | { kind: 'recorded'; record: ChainRecord; block: number }
);

export interface TimelineSources {
  details: ListingDetails;
  edits: readonly ListingEdit[];
  applications: readonly Application[];
  /** Mined records, each with the time of its block. */
  records: readonly { record: ChainRecord; block: number; at: string }[];
}

/** Newest first. Of events of the same moment, what follows from the other comes first. */
export function toTimeline({ details, edits, applications, records }: TimelineSources): TimelineEvent[] {
  const events: TimelineEvent[] = [
    { key: 'listed', kind: 'listed', at: details.createdAt },
    ...edits.map((edit): TimelineEvent => ({ key: `edit ${edit.version}`, kind: 'edited', at: edit.at, edit })),
    ...applications.flatMap(({ id, userId, timeline }) =>
      timeline.map(({ at, status }, step): TimelineEvent => ({
        key: `${id} ${step}`,
        kind: 'application',
        at,
        userId,
        status,
      })),
    ),
    ...records.map(({ record, block, at }): TimelineEvent => ({
      key: `record ${block}`,
      kind: 'recorded',
      at,
      record,
      block,
    })),
  ];
  const time = ({ at }: TimelineEvent) => new Date(at).getTime();
  return events.reverse().sort((a, b) => time(b) - time(a));
}
