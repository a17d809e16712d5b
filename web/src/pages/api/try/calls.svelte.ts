// Operations that were tried in this tab, newest first. Nothing of their values is kept.
import { session } from '$lib/session/session.svelte';

export interface Call {
  method: string;
  /** Of the operation, with its parameters in braces. */
  path: string;
  status: number;
  ms: number;
  at: Date;
}

const MAX_CALLS = 20;

class Calls {
  #all = $state.raw<(Call & { userId: string })[]>([]);

  /** Those of the user who is signed in. */
  get list(): Call[] {
    return this.#all.filter(({ userId }) => userId === session.userId);
  }

  add(call: Call): void {
    this.#all = [{ ...call, userId: session.userId }, ...this.#all].slice(0, MAX_CALLS);
  }
}

export const calls = new Calls();
