// State of the verification form: values, case id and the retry after a bureau failure.
import { ApiError, verifyRentalRequirements } from '$lib/api';
import { useForm, type Form } from '$lib/form/form.svelte';
import { LOCALE, m } from '$lib/i18n';
import { href, router } from '$lib/router/router.svelte';
import { APPLICANT_FIELDS, FIELD_LABELS, type Applicant } from './checks';
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
  return { walletId: m.screening_wallet_invalid() };
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
        ...(values.consentedAt ? {} : { consentedAt: m.screening_consent_missing() }),
      }),
      onSubmit: (values) => this.#send(values),
      // A social security number and a bank's token stay nowhere, and consent is given for each verification.
      draft: {
        key: () => `verification ${clientId}`,
        omit: ['SSN', 'OpenBankingToken', 'consentedAt', 'consentVersion'],
      },
    });
  }

  fill(applicant: Applicant): void {
    Object.assign(this.form.values, applicant);
    this.form.errors = {};
    this.form.problem = '';
    this.retry = undefined;
  }

  async #send(values: Values): Promise<unknown> {
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
      // The home that needs the checks, to which the result leads back.
      const home = router.query.get('home');
      router.navigate(href('/screening/results/:id', { id: verificationResults.Id }, home ? { home } : {}));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 503) throw assignField(error);
      const text = m.screening_bureau_silent();
      this.retry = { text, until: Date.now() + (error.retryAfter ?? 5) * 1000 };
      return false;
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
  pipeline_not_found: ['clientId', m.screening_unknown_client()],
  case_not_found: ['caseId', m.screening_foreign_case()],
  nothing_to_check: ['FirstName', m.screening_nothing_to_check()],
  identity_revoked: ['caseId', m.screening_revoked_case()],
};

function assignField(error: ApiError): ApiError {
  const mapping = FIELD_ERRORS[error.code];
  if (!mapping) return error;
  // No code of the service: these words are the console's own.
  const errors = [{ parameter: mapping[0], code: '', message: mapping[1] }];
  return new ApiError(error.status, { detail: error.message, code: error.code, errors });
}

/** Joins field labels to a list in the user's language. */
export const formatFieldList = (fields: (keyof typeof FIELD_LABELS)[]) =>
  new Intl.ListFormat(LOCALE, { type: 'conjunction' }).format(fields.map((field) => FIELD_LABELS[field].toLowerCase()));
