// A verification on its way: what was typed, the case it belongs to, and a bureau that did not answer.
import { ApiError, verifyRentalRequirements } from '$lib/api';
import { useForm, type Form } from '$lib/form/form.svelte';
import { href, router } from '$lib/router/router.svelte';
import { FIELDS, inWords, NAMES, type Applicant } from './checks';
import { figures } from './figures';

/** The text beside the box that is ticked; a change of the text is a new version. */
export const CONSENT = {
  version: '2026-11',
  text: 'I am the applicant, and I agree that the bureaus are asked about me for this rental application.',
};

export interface Values extends Applicant {
  clientId: string;
  caseId: string;
  wallet: 'custody' | 'own';
  walletId: string;
  /** When it was given; empty until then. */
  consentedAt: string;
}

export const isAddress = (text: string) => /^0x[0-9a-fA-F]{40}$/.test(text.trim());

/** What is wrong with the choice of a wallet. A wrong address would quietly become an address that is kept here. */
export function walletFault({ wallet, walletId }: Pick<Values, 'wallet' | 'walletId'>): Record<string, string> {
  if (wallet === 'custody' || isAddress(walletId)) return {};
  return { walletId: 'Enter an address of 0x and 40 digits, or ask the browser’s wallet.' };
}

export class Verifying {
  form: Form<Values>;
  /** A bureau did not answer: what was said, and when it is worth trying again. */
  waiting = $state.raw<{ text: string; until: number } | undefined>();
  // Stays for every try, so that what was found is not asked for twice.
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

/** Refusals that name no field, though they are about one. */
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

/** What the fields are called, for whom reads about them elsewhere. */
export const listed = (fields: (keyof typeof NAMES)[]) =>
  new Intl.ListFormat(navigator.language, { type: 'conjunction' }).format(
    fields.map((field) => NAMES[field].toLowerCase()),
  );
