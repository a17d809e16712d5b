import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { literals } from './literal-text';

/** What is no text of the console: names of the API, of places and of headers. Files, or texts of files. */
const ALLOWED: string[] = [
  'lib/api/credentials.ts',
  'lib/api/paged.ts',
  'lib/format/risk.ts',
  'lib/listings/places.ts',
  'lib/listings/postal-codes.ts',
  'lib/map/cities.ts',
  'lib/map/ground.ts: Feature',
  'lib/map/land.ts: Commonwealth of the Northern Mariana Islands',
  'lib/map/land.ts: United States Virgin Islands',
  'lib/map/MapView.svelte: <span class="map-pin chosen"></span>',
  'lib/map/pins.ts: Feature',
  'lib/map/pins.ts: Point',
  'lib/map/pins.ts: map-pin chosen',
  'lib/session/people.ts',
  // The name of the key that the console makes for itself.
  'lib/session/session.svelte.ts: Console',
  'lib/state/theme.svelte.ts: (prefers-color-scheme: dark)',
  // Samples of what the API sends.
  'pages/kit/Charts.svelte',
  'pages/kit/Forms.svelte: the request has 3 faults',
  'pages/kit/Forms.svelte: must not be empty',
  'pages/kit/Forms.svelte: must be at least 0',
  'pages/kit/Forms.svelte: is missing',
  'lib/networks/known.ts',
  'lib/palette/ShortcutList.svelte: Ctrl',
  'lib/palette/Shortcuts.svelte: Ctrl K',
  'lib/palette/entries.ts: dark light',
  'pages/api/try/samples.ts',
  'pages/my-listings/ListingTable.svelte: address',
  'pages/screening/checks.ts: City',
  'pages/screening/checks.ts: Email',
  'pages/screening/checks.ts: State',
  'pages/screening/test-applicants.ts',
];

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.(svelte|ts)$/.test(name) && !/generated|\.test\.ts$|lib\/i18n\//.test(name),
);

const found = files
  .flatMap((name) => literals(name, readFileSync(join('src', name), 'utf8')).map((text) => `${name}: ${text}`))
  .filter((text) => !ALLOWED.some((allowed) => text === allowed || text.startsWith(`${allowed}: `)));

test('literal text is found in markup, attributes and scripts', () => {
  expect(literals('a.svelte', '<p>Hello</p>')).toEqual(['Hello']);
  expect(literals('a.svelte', '<Page title="Saved homes" class="wide page" />')).toEqual(['Saved homes']);
  expect(literals('a.svelte', '<b>{is ? "Not yet" : m.a()}</b>')).toEqual(['Not yet']);
  expect(literals('a.svelte', '<b title="{n} homes" id="a-{n}">{`${n} homes left`}</b>')).toEqual([
    'homes',
    ' homes left',
  ]);
  expect(literals('a.svelte', '<script lang="ts">toasts.success("Saved.")</script>')).toEqual(['Saved.']);
  expect(literals('a.ts', 'throw new Error(`The ${name} is gone`)')).toEqual(['The ', ' is gone']);
  expect(literals('a.ts', "event.key === 'Enter' && headers.get('Accept')")).toEqual([]);
  expect(literals('a.svelte', '<p>{m.a()} · <code>npm ci now</code> → Portico</p>')).toEqual([]);
});

test('no text is written into a source file', () => {
  expect(found).toEqual([]);
});
