// State of a device import: progress and the result of each row.
import { errorMessage, isAbort, registerDevices } from '$lib/api';
import { wait } from '$lib/state/wait';
import { SvelteMap } from 'svelte/reactivity';
import { deviceKey, type Row } from './rows';
import { registerAll, type Result } from './register';

export type Status = 'ready' | 'invalid' | 'duplicate' | 'sending' | 'done' | 'failed';

export class Batch {
  isRunning = $state(false);
  /** Error message if the import was aborted. */
  problem = $state('');
  #results = new SvelteMap<string, Result>();
  #total = $state(0);
  #stopRequested = $state(false);

  result(row: Row): Result | undefined {
    return this.#results.get(deviceKey(row) + row.line);
  }

  status(row: Row): Status {
    const result = this.result(row);
    if (result) return result.state === 'taken' ? 'duplicate' : result.state;
    if (row.errors.length > 0) return 'invalid';
    return row.duplicate ? 'duplicate' : 'ready';
  }

  get total(): number {
    return this.#total;
  }

  get isStopping(): boolean {
    return this.#stopRequested && this.isRunning;
  }

  /** Clears the results after the text changed. */
  clear(): void {
    this.#results.clear();
    this.problem = '';
    this.#total = 0;
  }

  stop = (): void => {
    this.#stopRequested = true;
  };

  async run(rows: readonly Row[]): Promise<void> {
    this.isRunning = true;
    this.problem = '';
    this.#stopRequested = false;
    this.#total = rows.length;
    try {
      await registerAll(rows, {
        send: (userId, rows) =>
          registerDevices({
            body: {
              userId,
              devices: rows.map(({ network, deviceIdentifier }) => ({ network, deviceIdentifier })),
            },
          }),
        report: (row, result) => {
          const key = deviceKey(row) + row.line;
          if (result) this.#results.set(key, result);
          else this.#results.delete(key);
        },
        wait,
        isStopped: () => this.#stopRequested,
      });
    } catch (error) {
      if (!isAbort(error)) this.problem = errorMessage(error);
    } finally {
      this.isRunning = false;
    }
  }
}
