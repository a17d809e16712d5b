// Who is signed in. Tokens and keys live in the tab's session storage only; the sandbox's last choice of a person,
// which is no secret, is remembered across tabs.
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

  /** The signed-in user's id; empty for nobody. */
  get userId(): string {
    return this.#who?.userId ?? '';
  }

  /** Some operations are a person's only: a key, even an operator's, is nobody. */
  get isPerson(): boolean {
    return this.#who?.token !== undefined;
  }

  /** The id of the key that this tab itself uses. */
  get keyId(): string | undefined {
    return this.#who?.apiKey && keyIdOf(this.#who.apiKey);
  }

  /** May act for others: by a key, or by a token that says so. */
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

  /** Sandbox: becomes another person. */
  async actAs(userId: string): Promise<void> {
    // With the same key the sandbox answers the same API key, so that tabs do not use up a person's hundred keys.
    // Who is asked to sign in again needs another one: the old key may have been revoked.
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

  /** Operators: a key instead of a person. `userId` is whom pages about "my" things then show. */
  signInWithKey(apiKey: string, userId: string): void {
    this.#become({ apiKey, userId: userId || 'operator', operator: true });
  }

  async signOut(): Promise<void> {
    const keyId = this.#who?.keyId;
    // The key was made for this tab; without the tab nobody can use it.
    if (keyId) await revokeKey({ path: { id: keyId } }).catch(() => undefined);
    this.#become(undefined);
  }

  /** Opens the sign-in dialog; true once somebody has signed in. Many callers share one dialog. */
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
    // A person who signed in with an issuer gets a key of their own when one is first needed.
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
