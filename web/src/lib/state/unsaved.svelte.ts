// Forms with unsaved values. Leaving their page asks first.
import { router } from '../router/router.svelte';

export interface UnsavedForm {
  readonly isDirty: boolean;
  /** Whether what was typed can be left behind as a draft. */
  readonly keepsDraft: boolean;
  /** Drops what was typed, and its draft. */
  reset(): void;
}

class Unsaved {
  #forms = new Set<UnsavedForm>();
  /** Goes on to where the user wants, while the dialog asks. */
  leave = $state.raw<(() => void) | undefined>();

  /** The user has been asked, and the page reloads. */
  #isReloading = false;

  constructor() {
    if (typeof window === 'undefined') return;
    router.onleave = (proceed) => {
      if (!this.#isDirty) return false;
      this.leave = proceed;
      return true;
    };
    window.addEventListener('beforeunload', (event) => {
      if (this.#isDirty && !this.#isReloading) event.preventDefault();
    });
  }

  /** Asks what happens to unsaved values, if there are any, then reloads the page. */
  reloadWith(reload: () => void): void {
    const proceed = () => {
      this.#isReloading = true;
      reload();
    };
    if (this.#isDirty) this.leave = proceed;
    else proceed();
  }

  get #isDirty(): boolean {
    return [...this.#forms].some((form) => form.isDirty);
  }

  /** False: everything that is not saved would be lost. */
  get keepsDraft(): boolean {
    return [...this.#forms].some((form) => form.isDirty && form.keepsDraft);
  }

  /** False: something that is not saved would be lost. */
  get keepsAll(): boolean {
    return [...this.#forms].every((form) => !form.isDirty || form.keepsDraft);
  }

  /** Returns a function that stops it. */
  watch(form: UnsavedForm): () => void {
    this.#forms.add(form);
    return () => void this.#forms.delete(form);
  }

  discard(): void {
    for (const form of this.#forms) form.reset();
  }
}

export const unsaved = new Unsaved();
