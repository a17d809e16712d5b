// The state of a form: values, errors and whether it is being submitted. The values are kept until the service accepts
// them.
import { tick } from 'svelte';
import { isAbort } from '../api/problem';
import { session } from '../session/session.svelte';
import { unsaved } from '../state/unsaved.svelte';
import { applicableFields, changedFields, forgetDraft, loadDraft, saveDraft } from './drafts';
import { assignErrors } from './field-errors';

export interface DraftOptions<V> {
  /** Names the form and what it edits. Read once. */
  key: () => string;
  /** Fields that are never kept: secrets, and what must be given anew. */
  omit?: readonly (keyof V & string)[];
  /** False: the draft is kept silently, as for a dialog. */
  asksToLeave?: boolean;
}

export interface FormOptions<V extends object> {
  initial: () => V;
  /** Submits the values; errors that it throws are shown. Returns false if they are not saved all the same. */
  onSubmit: (values: V) => Promise<unknown>;
  /** Maps names that the API uses to field names: `{ addressCity: 'city' }`. */
  aliases?: Record<string, string>;
  /** Validates on the client; returns messages by field name. */
  validate?: (values: V) => Record<string, string>;
  /** Whether the user has to confirm valid values in a `ReviewDialog` before they are submitted. */
  needsReview?: (values: V) => boolean;
  /** Keeps what was typed until it is saved. */
  draft?: DraftOptions<V>;
  /** For a form without a draft, of which nothing may be stored: leaving its page asks all the same. */
  asksToLeave?: boolean;
}

export class Form<V extends object> {
  values = $state() as V;
  errors = $state<Record<string, string>>({});
  /** Error message of the whole form. */
  problem = $state('');
  busy = $state(false);
  /** The values are valid, and the user is asked to confirm them. */
  isReviewing = $state(false);
  /** The form began with a draft. */
  isRestored = $state(false);
  #saved = $state.raw() as V;
  readonly id = `form-${crypto.randomUUID().slice(0, 8)}`;
  #options: FormOptions<V>;
  #forget = (): void => undefined;

  constructor(options: FormOptions<V>) {
    this.#options = options;
    this.#saved = options.initial();
    this.values = structuredClone(this.#saved);
    if (options.draft) this.#keepDraft(options.draft);
    else if (options.asksToLeave) $effect(() => unsaved.watch(this));
  }

  /** Whether a draft is left behind when the user leaves. */
  get keepsDraft(): boolean {
    return this.#options.draft !== undefined;
  }

  /** Whether something was typed that is not saved. */
  get isDirty(): boolean {
    return Object.keys(changedFields(this.#saved, $state.snapshot(this.values) as V)).length > 0;
  }

  #keepDraft(draft: DraftOptions<V>): void {
    const { omit, asksToLeave = true } = draft;
    const userId = session.userId;
    const key = draft.key();
    const restored = applicableFields(this.#saved, loadDraft(userId, key));
    this.isRestored = Object.keys(restored).length > 0;
    Object.assign(this.values, restored);
    $effect(() => {
      const changed = changedFields(this.#saved, $state.snapshot(this.values) as V, omit);
      if (Object.keys(changed).length > 0) saveDraft(userId, key, changed);
      else forgetDraft(userId, key);
    });
    if (asksToLeave) $effect(() => unsaved.watch(this));
    this.#forget = () => forgetDraft(userId, key);
  }

  /** The values are saved, or need not be. */
  markSaved(): void {
    this.#saved = $state.snapshot(this.values) as V;
    this.isRestored = false;
    // The form may be gone already, and its effects with it.
    this.#forget();
  }

  error(name: string): string | undefined {
    return this.errors[name];
  }

  /** Clears the error of a field when the user edits it. */
  clearError(name: string): void {
    Reflect.deleteProperty(this.errors, name);
    this.problem = '';
  }

  reset(): void {
    this.#saved = this.#options.initial();
    this.values = structuredClone(this.#saved);
    this.isRestored = false;
    this.#forget();
    this.errors = {};
    this.problem = '';
  }

  /** For `<form onsubmit={form.submit}>`. */
  submit = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    if (this.busy) return;
    this.problem = '';
    this.errors = this.#options.validate?.($state.snapshot(this.values) as V) ?? {};
    if (Object.keys(this.errors).length > 0) return this.#focusFirstError();
    if (this.#options.needsReview?.($state.snapshot(this.values) as V)) this.isReviewing = true;
    else await this.#send();
  };

  /** Submits the values that the user has reviewed. */
  confirm = async (): Promise<void> => {
    if (this.busy) return;
    await this.#send();
  };

  async #send(): Promise<void> {
    this.busy = true;
    try {
      const isSaved = await this.#options.onSubmit($state.snapshot(this.values) as V);
      this.isReviewing = false;
      if (isSaved !== false) this.markSaved();
    } catch (error) {
      this.isReviewing = false;
      if (isAbort(error)) return;
      const assigned = assignErrors(error, Object.keys(this.values), this.#options.aliases);
      this.errors = assigned.fields;
      this.problem = assigned.form;
      await this.#focusFirstError();
    } finally {
      this.busy = false;
    }
  }

  async #focusFirstError(): Promise<void> {
    await tick();
    document.querySelector<HTMLElement>(`#${this.id} [aria-invalid='true'], #${this.id} [role='alert']`)?.focus();
  }
}

export function useForm<V extends object>(options: FormOptions<V>): Form<V> {
  return new Form(options);
}
