// State of "Verify an applicant": the names of another person, which are never stored, and the answer.
import { ApiError, validateIdentity } from '$lib/api';
import { useForm, type Form } from '$lib/form/form.svelte';
import { router } from '$lib/router/router.svelte';

interface Values {
  Id: string;
  FirstName: string;
  LastName: string;
}

export class ValidationForm {
  form: Form<Values>;
  /** Without a token: nothing matched. Undefined before the first answer. */
  answer = $state.raw<{ token?: string }>();

  constructor() {
    this.form = useForm<Values>({
      initial: () => ({ Id: router.query.get('id') ?? '', FirstName: '', LastName: '' }),
      onSubmit: (values) => this.#send(values),
      asksToLeave: true,
    });
  }

  async #send(query: Values): Promise<void> {
    this.answer = undefined;
    try {
      this.answer = { token: await validateIdentity({ query }) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      this.answer = {};
    }
  }
}
