// State of a device import: progress and the result of each row.
import { describe, isAbort, registerDevice } from '$lib/api';
import { wait } from '$lib/state/wait';
import { SvelteMap } from 'svelte/reactivity';
import { keyOf, type Row } from './rows';
import { registerAll, type Result } from './sending';

export type Status = 'ready' | 'fault' | 'duplicate' | 'sending' | 'done' | 'failed';

export class Batch {
  running = $state(false);
  /** Error message if the import was aborted. */
  problem = $state('');
  #results = new SvelteMap<string, Result>();
  #total = $state(0);
  #stop = $state(false);

  result(row: Row): Result | undefined {
    return this.#results.get(keyOf(row) + row.line);
  }

  status(row: Row): Status {
    const result = this.result(row);
    if (result) return result.state === 'taken' ? 'duplicate' : result.state;
    if (row.faults.length > 0) return 'fault';
    return row.duplicate ? 'duplicate' : 'ready';
  }

  get total(): number {
    return this.#total;
  }

  get stopping(): boolean {
    return this.#stop && this.running;
  }

  /** Clears the results after the text changed. */
  clear(): void {
    this.#results.clear();
    this.problem = '';
    this.#total = 0;
  }

  stop = (): void => {
    this.#stop = true;
  };

  async run(rows: readonly Row[]): Promise<void> {
    this.running = true;
    this.problem = '';
    this.#stop = false;
    this.#total = rows.length;
    try {
      await registerAll(rows, {
        send: ({ userId, network, deviceIdentifier }) =>
          registerDevice({ body: { userId, network, deviceIdentifier } }),
        report: (row, result) => {
          const key = keyOf(row) + row.line;
          if (result) this.#results.set(key, result);
          else this.#results.delete(key);
        },
        wait,
        stopped: () => this.#stop,
      });
    } catch (error) {
      if (!isAbort(error)) this.problem = describe(error);
    } finally {
      this.running = false;
    }
  }
}
