// The portfolios and templates that are chosen for the comparison, by their checkboxes. Kept while the tab lives.
import { session } from '$lib/session/session.svelte';
import { MAX_COMPARED } from './mix';

class Selection {
  #chosen = $state.raw<{ userId: string; ids: readonly string[] }>({ userId: '', ids: [] });

  /** Those of the user who is signed in. */
  get ids(): readonly string[] {
    return this.#chosen.userId === session.userId ? this.#chosen.ids : [];
  }

  get isFull(): boolean {
    return this.ids.length >= MAX_COMPARED;
  }

  toggle(id: string): void {
    if (this.ids.includes(id)) this.#set(this.ids.filter((other) => other !== id));
    else if (!this.isFull) this.#set([...this.ids, id]);
  }

  clear(): void {
    this.#set([]);
  }

  #set(ids: readonly string[]): void {
    this.#chosen = { userId: session.userId, ids };
  }
}

export const selection = new Selection();
