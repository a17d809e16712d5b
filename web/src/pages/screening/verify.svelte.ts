// State of the verification form: values, case id and the retry after a bureau failure.
import { ApiError, verifyRentalRequirements } from '$lib/api';
import { useForm, type Form } from '$lib/form/form.svelte';
import { href, router } from '$lib/router/router.svelte';
import { FIELDS, inWords, NAMES, type Applicant } from './checks';
import { figures } from './figures';

/** Text of the consent checkbox. Change the version with the text. */
export const CONSENT = {
  version: '2026-11',
  text: 'I am the applicant, and I agree that the bureaus are asked about me for this rental application.',
};

export interface Values extends Applicant {
  clientId: string;
  caseId: string;
  wallet: 'custody' | 'own';
  walletId: string;
  /** Time of the consent; empty without consent. */
  consentedAt: string;
}

export const isAddress = (text: string) => /^0x[0-9a-fA-F]{40}$/.test(text.trim());

/** Validates the wallet address. The service would treat an invalid address as a custodial wallet. */
export function walletFault({ wallet, walletId }: Pick<Values, 'wallet' | 'walletId'>): Record<string, string> {
  if (wallet === 'custody' || isAddress(walletId)) return {};
  return { walletId: 'Enter an address of 0x and 40 digits, or ask the browser’s wallet.' };
}

export class Verifying {
  form: Form<Values>;
  /** Set after a bureau did not answer: message and earliest time to retry. */
  waiting = $state.raw<{ text: string; until: number } | undefined>();
  // The same for every attempt, so that completed checks are not repeated.
  #case: string = crypto.randomUUID();

  constructor(clientId: string) {
    this.form = useForm<Values>({
      initial: () => ({ ...empty(), clientId }),
      check: (values) => ({
        ...walletFault(values),
        ...(values.consentedAt ? {} : { consentedAt: 'Without consent nobody may be asked.' }),
      }),
      send: (values) => this.#send(values),
    });
  }

  fill(applicant: Applicant): void {
    Object.assign(this.form.values, applicant);
    this.form.faults = {};
    this.form.problem = '';
    this.waiting = undefined;
  }

  async #send(values: Values): Promise<void> {
    this.waiting = undefined;
    const given = FIELDS.filter((field) => values[field].trim() !== '');
    const body = Object.fromEntries(given.map((field) => [field, values[field].trim()]));
    try {
      const { verificationResults } = await verifyRentalRequirements({
        query: {
          caseId: values.caseId.trim() || this.#case,
          clientId: values.clientId.trim() || undefined,
          walletId: values.wallet === 'own' ? values.walletId.trim() : undefined,
        },
        body: { ...body, consentedAt: values.consentedAt, consentVersion: CONSENT.version },
      });
      figures.keep(verificationResults);
      router.go(href('/screening/results/:id', { id: verificationResults.Id }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 503) throw atItsField(error);
      const text = 'A bureau does not answer at the moment. What you typed is still here.';
      this.waiting = { text, until: Date.now() + (error.retryAfter ?? 5) * 1000 };
    }
  }
}

function empty(): Values {
  const nobody = Object.fromEntries(FIELDS.map((field) => [field, ''])) as Applicant;
  return { ...nobody, clientId: '', caseId: '', wallet: 'custody', walletId: '', consentedAt: '' };
}

/** Field and message for error codes that belong to a field but do not name it. */
const ABOUT: Record<string, [keyof Values, string]> = {
  pipeline_not_found: ['clientId', 'No landlord has this client id.'],
  case_not_found: ['caseId', 'This case is somebody else’s. Choose another one.'],
  nothing_to_check: [
    'FirstName',
    'Nothing can be checked yet. Enter both names and a date of birth or an SSN, or a bank access token.',
  ],
  identity_revoked: ['caseId', 'The token of this case was revoked. Choose another case.'],
};

function atItsField(error: ApiError): ApiError {
  const about = ABOUT[error.code];
  const errors = about
    ? [{ parameter: about[0], code: error.code, message: about[1] }]
    : error.faults.map((fault) => ({ ...fault, message: inWords(fault.message) }));
  return new ApiError(error.status, { detail: error.message, code: error.code, errors });
}

/** Joins field labels to a list in the user's language. */
export const listed = (fields: (keyof typeof NAMES)[]) =>
  new Intl.ListFormat(navigator.language, { type: 'conjunction' }).format(
    fields.map((field) => NAMES[field].toLowerCase()),
  );
