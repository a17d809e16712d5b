// Demo data for an empty sandbox. Whether the running service has it, its own document says.
import { client } from '../api/generated/client.gen';

export interface DemoMade {
  listings: number;
  people: number;
}

const PATH = '/v1/sandbox/demo';

export async function offersDemo(signal?: AbortSignal): Promise<boolean> {
  const response = await fetch('/openapi.json', { signal });
  if (!response.ok) return false;
  const { paths } = (await response.json()) as { paths?: Record<string, object> };
  return paths !== undefined && PATH in paths;
}

export async function fillWithDemo(): Promise<DemoMade> {
  const answer = await client.post<DemoMade, unknown, true>({ url: PATH, responseStyle: 'data', throwOnError: true });
  return answer as unknown as DemoMade;
}
