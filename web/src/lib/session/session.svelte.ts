// The signed-in user. Tokens and keys are kept only in the tab's session storage; the last chosen sandbox user is not
// secret and is kept in local storage.
import { createKey, openSandboxSession, revokeKey } from '../api';
import type { Credentials } from '../api/credentials';
import { claimHolds, claimsOf, keyIdOf } from './claims';
import { loadConfig, type Config } from './config';
import { PEOPLE, personOf, type Person } from './people';

interface Stored extends Credentials {
  keyId?: string;
}

const STORED = 'portico.session';
const ACTING_AS = 'portico.acting-as';
const ROUND = 'portico.round';

class Session {
  config = $state.raw<Config>({ profile: 'sandbox', currency: 'USD' });
  #who = $state.raw<Stored | undefined>();
  /** Set while the sign-in dialog is open. */
  asking = $state.raw<{ reason: 'expired' | 'wanted'; answer: (done: boolean) => void } | undefined>();
  #asked: Promise<boolean> | undefined;
  #key: Promise<Stored> | undefined;

  get signedIn(): boolean {
    return this.#who !== undefined;
  }

  /** Empty if nobody is signed in. */
  get userId(): string {
    return this.#who?.userId ?? '';
  }

  /** True if signed in with a token. Some operations reject API keys, even an operator's. */
  get isPerson(): boolean {
    return this.#who?.token !== undefined;
  }

  /** The id of the API key that this tab uses. */
  get keyId(): string | undefined {
    return this.#who?.apiKey && keyIdOf(this.#who.apiKey);
  }

  /** May act for other users: signed in with a key, or with a token that has the admin claim. */
  get operator(): boolean {
    const token = this.#who?.token;
    const { claim, value } = this.config.adminClaim ?? { claim: 'scope', value: 'admin' };
    return this.#who?.operator || (token !== undefined && claimHolds(claimsOf(token), claim, value));
  }

  get sandbox(): boolean {
    return this.config.profile === 'sandbox';
  }

  get person(): Person {
    return this.sandbox ? personOf(this.userId) : { userId: this.userId, name: this.userId, role: '' };
  }

  async start(): Promise<void> {
    this.config = await loadConfig();
    const stored = sessionStorage.getItem(STORED);
    if (stored) this.#who = JSON.parse(stored) as Stored;
    else if (this.sandbox) await this.actAs(localStorage.getItem(ACTING_AS) ?? PEOPLE[0]?.userId ?? 'ada');
  }

  /** Sandbox only: signs in as another user. */
  async actAs(userId: string): Promise<void> {
    // The same idempotency key returns the same API key, so that tabs do not use up the user's limit of 100 keys.
    // Signing in again after a 401 needs a new API key, because the old one may be revoked.
    if (this.asking?.reason === 'expired') localStorage.setItem(ROUND, String(Date.now()));
    const round = localStorage.getItem(ROUND) ?? '';
    const headers = { 'Idempotency-Key': `console-${encodeURIComponent(userId)}${round}` };
    const { token, apiKey } = await openSandboxSession({ body: { userId }, headers });
    localStorage.setItem(ACTING_AS, userId);
    this.#become({ userId, operator: personOf(userId).operator ?? false, token, apiKey });
  }

  async signInWithIssuer(): Promise<void> {
    const { signInWithIssuer } = await import('./oidc');
    this.#become({ ...(await signInWithIssuer(this.config)), operator: false });
  }

  /** For operators: signs in with an API key. Personal pages show the data of `userId`. */
  signInWithKey(apiKey: string, userId: string): void {
    this.#become({ apiKey, userId: userId || 'operator', operator: true });
  }

  async signOut(): Promise<void> {
    const keyId = this.#who?.keyId;
    // The key was created for this tab only.
    if (keyId) await revokeKey({ path: { id: keyId } }).catch(() => undefined);
    this.#become(undefined);
  }

  /** Opens the sign-in dialog; resolves to true after a sign-in. Concurrent callers share one dialog. */
  ask(reason: 'expired' | 'wanted'): Promise<boolean> {
    this.#asked ??= new Promise<boolean>((resolve) => {
      this.asking = { reason, answer: resolve };
    }).finally(() => {
      this.asking = undefined;
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async credentials(path: string): Promise<Credentials | undefined> {
    const who = this.#who;
    if (!who || who.apiKey || !path.startsWith('/stage/')) return who;
    // A user who signed in with the issuer gets an API key when the first request needs one.
    this.#key ??= createKey({ body: { name: 'Console' } })
      .then(({ apiKey, id }) => ({ ...who, apiKey, keyId: id }))
      .finally(() => (this.#key = undefined));
    const withKey = await this.#key;
    if (this.#who === who) this.#become(withKey);
    return withKey;
  }

  #become(who: Stored | undefined): void {
    this.#who = who;
    if (who) sessionStorage.setItem(STORED, JSON.stringify(who));
    else sessionStorage.removeItem(STORED);
    if (who) this.asking?.answer(true);
  }
}

export const session = new Session();
