// Demo data: the sandbox fills itself, where this server knows how to. The operation may be newer than this console, so
// it is looked up in the service's own document and called by its address.
import { getOpenApi } from '$lib/api';
import { client } from '$lib/api/generated/client.gen';

const PATH = '/v1/sandbox/demo';

export interface DemoData {
  listings: number;
  people: number;
  applications: number;
  portfolios: number;
  devices: number;
}

export async function offersDemo(signal: AbortSignal): Promise<boolean> {
  const document = (await getOpenApi({ signal })) as { paths?: Record<string, { post?: unknown }> };
  return document.paths?.[PATH]?.post !== undefined;
}

export async function loadDemo(): Promise<Partial<DemoData>> {
  return (await client.post({ url: PATH, responseStyle: 'data', throwOnError: true })) as Partial<DemoData>;
}
