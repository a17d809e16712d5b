// The state of a form: values, errors and whether it is being submitted. The values are kept until the service accepts
// them.
import { tick } from 'svelte';
import { isAbort } from '../api/problem';
import { assignErrors } from './field-errors';

export interface FormOptions<V extends object> {
  initial: () => V;
  /** Submits the values; errors that it throws are shown. */
  onSubmit: (values: V) => Promise<void>;
  /** Maps names that the API uses to field names: `{ addressCity: 'city' }`. */
  aliases?: Record<string, string>;
  /** Validates on the client; returns messages by field name. */
  validate?: (values: V) => Record<string, string>;
}

export class Form<V extends object> {
  values = $state() as V;
  errors = $state<Record<string, string>>({});
  /** Error message of the whole form. */
  problem = $state('');
  busy = $state(false);
  readonly id = `form-${crypto.randomUUID().slice(0, 8)}`;
  #options: FormOptions<V>;

  constructor(options: FormOptions<V>) {
    this.#options = options;
    this.values = options.initial();
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
    this.values = this.#options.initial();
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
    this.busy = true;
    try {
      await this.#options.onSubmit($state.snapshot(this.values) as V);
    } catch (error) {
      if (isAbort(error)) return;
      const assigned = assignErrors(error, Object.keys(this.values), this.#options.aliases);
      this.errors = assigned.fields;
      this.problem = assigned.form;
      await this.#focusFirstError();
    } finally {
      this.busy = false;
    }
  };

  async #focusFirstError(): Promise<void> {
    await tick();
    document.querySelector<HTMLElement>(`#${this.id} [aria-invalid='true'], #${this.id} [role='alert']`)?.focus();
  }
}

export function useForm<V extends object>(options: FormOptions<V>): Form<V> {
  return new Form(options);
}
