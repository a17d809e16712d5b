import { expect, test } from 'vitest';
import type { Application, ListingDetails, ListingEdit, Record as ChainRecord } from '$lib/api';
import { toTimeline } from './timeline';

const at = (hour: number) => `2026-05-01T0${hour}:00:00Z`;
const details = { createdAt: at(1) } as ListingDetails;
const record = (block: number, hour: number) => ({ record: { version: 1 } as ChainRecord, block, at: at(hour) });

test('edits, applications, decisions and records are in one list', () => {
  const timeline = [
    { at: at(4), status: 'submitted', by: 'applicant' },
    { at: at(6), status: 'approved', by: 'owner' },
  ];
  const events = toTimeline({
    details,
    edits: [{ version: 2, at: at(5), by: 'owner', changes: [] } as ListingEdit],
    applications: [{ id: 'a', userId: 'ben', timeline } as unknown as Application],
    records: [record(7, 2)],
  });
  expect(events.map(({ kind, at }) => `${kind} ${at.slice(11, 13)}`)).toEqual([
    'application 06',
    'edited 05',
    'application 04',
    'recorded 02',
    'listed 01',
  ]);
  expect(new Set(events.map(({ key }) => key)).size).toBe(5);
});

test('what happened in the same moment is in the order of cause and effect', () => {
  const events = toTimeline({ details, edits: [], applications: [], records: [record(3, 1)] });
  expect(events.map(({ kind }) => kind)).toEqual(['recorded', 'listed']);
});
