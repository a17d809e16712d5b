// State of the verification form: values, case id and the retry after a bureau failure.
import { ApiError, verifyRentalRequirements } from '$lib/api';
import { useForm, type Form } from '$lib/form/form.svelte';
import { href, router } from '$lib/router/router.svelte';
import { APPLICANT_FIELDS, replaceCheckIds, FIELD_LABELS, type Applicant } from './checks';
import { figures } from './figures';

export interface Values extends Applicant {
  clientId: string;
  caseId: string;
  wallet: 'custody' | 'own';
  walletId: string;
  /** Time of the consent; empty without consent. */
  consentedAt: string;
  /** Of the text that was consented to. */
  consentVersion: string;
}

export const isAddress = (text: string) => /^0x[0-9a-fA-F]{40}$/.test(text.trim());

/** Validates the wallet address. The service would treat an invalid address as a custodial wallet. */
export function validateWallet({ wallet, walletId }: Pick<Values, 'wallet' | 'walletId'>): Record<string, string> {
  if (wallet === 'custody' || isAddress(walletId)) return {};
  return { walletId: 'Enter an address of 0x and 40 digits, or ask the browser’s wallet.' };
}

export class VerificationForm {
  form: Form<Values>;
  /** Set after a bureau did not answer: message and earliest time to retry. */
  retry = $state.raw<{ text: string; until: number } | undefined>();
  // The same for every attempt, so that completed checks are not repeated.
  #caseId: string = crypto.randomUUID();

  constructor(clientId: string) {
    this.form = useForm<Values>({
      initial: () => ({ ...emptyValues(), clientId }),
      validate: (values) => ({
        ...validateWallet(values),
        ...(values.consentedAt ? {} : { consentedAt: 'Without consent nobody may be asked.' }),
      }),
      onSubmit: (values) => this.#send(values),
    });
  }

  fill(applicant: Applicant): void {
    Object.assign(this.form.values, applicant);
    this.form.errors = {};
    this.form.problem = '';
    this.retry = undefined;
  }

  async #send(values: Values): Promise<void> {
    this.retry = undefined;
    const given = APPLICANT_FIELDS.filter((field) => values[field].trim() !== '');
    const body = Object.fromEntries(given.map((field) => [field, values[field].trim()]));
    try {
      const { verificationResults } = await verifyRentalRequirements({
        query: {
          caseId: values.caseId.trim() || this.#caseId,
          clientId: values.clientId.trim() || undefined,
          walletId: values.wallet === 'own' ? values.walletId.trim() : undefined,
        },
        body: { ...body, consentedAt: values.consentedAt, consentVersion: values.consentVersion },
      });
      figures.keep(verificationResults);
      router.navigate(href('/screening/results/:id', { id: verificationResults.Id }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 503) throw assignField(error);
      const text = 'A bureau does not answer at the moment. What you typed is still here.';
      this.retry = { text, until: Date.now() + (error.retryAfter ?? 5) * 1000 };
    }
  }
}

function emptyValues(): Values {
  const applicant = Object.fromEntries(APPLICANT_FIELDS.map((field) => [field, ''])) as Applicant;
  return {
    ...applicant,
    clientId: '',
    caseId: '',
    wallet: 'custody',
    walletId: '',
    consentedAt: '',
    consentVersion: '',
  };
}

/** Field and message for error codes that belong to a field but do not name it. */
const FIELD_ERRORS: Record<string, [keyof Values, string]> = {
  pipeline_not_found: ['clientId', 'No landlord has this client id.'],
  case_not_found: ['caseId', 'This case is somebody else’s. Choose another one.'],
  nothing_to_check: [
    'FirstName',
    'Nothing can be checked yet. Enter both names and a date of birth or an SSN, or a bank access token.',
  ],
  identity_revoked: ['caseId', 'The token of this case was revoked. Choose another case.'],
};

function assignField(error: ApiError): ApiError {
  const mapping = FIELD_ERRORS[error.code];
  const errors = mapping
    ? [{ parameter: mapping[0], code: error.code, message: mapping[1] }]
    : error.fieldErrors.map((fieldError) => ({ ...fieldError, message: replaceCheckIds(fieldError.message) }));
  return new ApiError(error.status, { detail: error.message, code: error.code, errors });
}

/** Joins field labels to a list in the user's language. */
export const formatFieldList = (fields: (keyof typeof FIELD_LABELS)[]) =>
  new Intl.ListFormat(navigator.language, { type: 'conjunction' }).format(
    fields.map((field) => FIELD_LABELS[field].toLowerCase()),
  );
