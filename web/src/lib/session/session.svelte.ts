// The signed-in user. Tokens and keys are kept only in the tab's session storage; the last chosen sandbox user is not
// secret and is kept in local storage.
import { createKey, openSandboxSession, revokeKey } from '../api';
import type { Credentials } from '../api/credentials';
import { forgetAllDrafts } from '../form/drafts';
import { hasClaim, parseClaims, parseKeyId } from './claims';
import { loadConfig, type Config } from './config';
import { PEOPLE, getPerson, type Person } from './people';

interface StoredSession extends Credentials {
  keyId?: string;
}

const SESSION_STORAGE_KEY = 'portico.session';
const ACTING_AS_STORAGE_KEY = 'portico.acting-as';
const NONCE_STORAGE_KEY = 'portico.round';

class Session {
  config = $state.raw<Config>({ profile: 'sandbox', currency: 'USD', country: 'US' });
  #stored = $state.raw<StoredSession | undefined>();
  /** Set while the sign-in dialog is open. */
  signInPrompt = $state.raw<{ reason: 'expired' | 'requested'; resolve: (done: boolean) => void } | undefined>();
  #signInResult: Promise<boolean> | undefined;
  #pendingKey: Promise<StoredSession> | undefined;

  get isSignedIn(): boolean {
    return this.#stored !== undefined;
  }

  /** Empty if nobody is signed in. */
  get userId(): string {
    return this.#stored?.userId ?? '';
  }

  /** True if signed in with a token. Some operations reject API keys, even an operator's. */
  get isPerson(): boolean {
    return this.#stored?.token !== undefined;
  }

  /** The id of the API key that this tab uses. */
  get keyId(): string | undefined {
    return this.#stored?.apiKey && parseKeyId(this.#stored.apiKey);
  }

  /** May act for other users: signed in with a key, or with a token that has the admin claim. */
  get isOperator(): boolean {
    const token = this.#stored?.token;
    const { claim, value } = this.config.adminClaim ?? { claim: 'scope', value: 'admin' };
    return this.#stored?.operator || (token !== undefined && hasClaim(parseClaims(token), claim, value));
  }

  get isSandbox(): boolean {
    return this.config.profile === 'sandbox';
  }

  get person(): Person {
    return this.isSandbox ? getPerson(this.userId) : { userId: this.userId, name: this.userId, role: '' };
  }

  async start(): Promise<void> {
    this.config = await loadConfig();
    const stored = sessionStorage.getItem(SESSION_STORAGE_KEY);
    if (stored) this.#stored = JSON.parse(stored) as StoredSession;
    else if (this.isSandbox)
      await this.actAs(localStorage.getItem(ACTING_AS_STORAGE_KEY) ?? PEOPLE[0]?.userId ?? 'ada');
  }

  /** Sandbox only: signs in as another user. */
  async actAs(userId: string): Promise<void> {
    // The same idempotency key returns the same API key, so that tabs do not use up the user's limit of 100 keys.
    // Signing in again after a 401 needs a new API key, because the old one may be revoked.
    if (this.signInPrompt?.reason === 'expired') localStorage.setItem(NONCE_STORAGE_KEY, String(Date.now()));
    const nonce = localStorage.getItem(NONCE_STORAGE_KEY) ?? '';
    const headers = { 'Idempotency-Key': `console-${encodeURIComponent(userId)}${nonce}` };
    const operator = getPerson(userId).operator ?? false;
    const { token, apiKey } = await openSandboxSession({ body: { userId, admin: operator }, headers });
    localStorage.setItem(ACTING_AS_STORAGE_KEY, userId);
    this.#store({ userId, operator, token, apiKey });
  }

  async signInWithIssuer(): Promise<void> {
    const { signInWithIssuer } = await import('./oidc');
    this.#store({ ...(await signInWithIssuer(this.config)), operator: false });
  }

  /** For operators: signs in with an API key. Personal pages show the data of `userId`. */
  signInWithKey(apiKey: string, userId: string): void {
    this.#store({ apiKey, userId: userId || 'operator', operator: true });
  }

  async signOut(): Promise<void> {
    forgetAllDrafts();
    const keyId = this.#stored?.keyId;
    // The key was created for this tab only.
    if (keyId) await revokeKey({ path: { id: keyId } }).catch(() => undefined);
    this.#store(undefined);
  }

  /** Opens the sign-in dialog; resolves to true after a sign-in. Concurrent callers share one dialog. */
  promptSignIn(reason: 'expired' | 'requested'): Promise<boolean> {
    this.#signInResult ??= new Promise<boolean>((resolve) => {
      this.signInPrompt = { reason, resolve };
    }).finally(() => {
      this.signInPrompt = undefined;
      this.#signInResult = undefined;
    });
    return this.#signInResult;
  }

  async credentials(path: string): Promise<Credentials | undefined> {
    const stored = this.#stored;
    if (!stored || stored.apiKey || !path.startsWith('/stage/')) return stored;
    // A user who signed in with the issuer gets an API key when the first request needs one.
    this.#pendingKey ??= createKey({ body: { name: 'Console' } })
      .then(({ apiKey, id }) => ({ ...stored, apiKey, keyId: id }))
      .finally(() => (this.#pendingKey = undefined));
    const withKey = await this.#pendingKey;
    if (this.#stored === stored) this.#store(withKey);
    return withKey;
  }

  #store(stored: StoredSession | undefined): void {
    this.#stored = stored;
    if (stored) sessionStorage.setItem(SESSION_STORAGE_KEY, JSON.stringify(stored));
    else sessionStorage.removeItem(SESSION_STORAGE_KEY);
    if (stored) this.signInPrompt?.resolve(true);
  }
}

export const session = new Session();
