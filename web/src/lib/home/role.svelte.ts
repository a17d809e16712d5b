// Whose home page the user sees: the one that they chose, else the one that fits what they have.
import { session } from '../session/session.svelte';
import { isRole, type Role } from './roles';

const STORAGE_KEY = 'portico.home';

type Stored = { chosen?: Role; detected?: Role };

class HomeRole {
  #stored = $state.raw<Record<string, Stored>>(read());

  get #mine(): Stored {
    return this.#stored[session.userId] ?? {};
  }

  /** Undefined until it is known what the user has. */
  get current(): Role | undefined {
    if (!session.isSignedIn) return 'newcomer';
    return this.#mine.chosen ?? (session.isOperator ? 'operator' : this.#mine.detected);
  }

  get isChosen(): boolean {
    return this.#mine.chosen !== undefined;
  }

  choose(chosen: Role): void {
    this.#store({ ...this.#mine, chosen });
  }

  detected(detected: Role): void {
    this.#store({ ...this.#mine, detected });
  }

  #store(mine: Stored): void {
    this.#stored = { ...this.#stored, [session.userId]: mine };
    localStorage.setItem(STORAGE_KEY, JSON.stringify(this.#stored));
  }
}

/** Storage may be disabled, or hold what an older console wrote. */
function read(): Record<string, Stored> {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Record<string, Partial<Stored>>;
    const known = (role: unknown) => (isRole(role as string) ? (role as Role) : undefined);
    return Object.fromEntries(
      Object.entries(stored).map(([userId, { chosen, detected }]) => [
        userId,
        { chosen: known(chosen), detected: known(detected) },
      ]),
    );
  } catch {
    return {};
  }
}

export const homeRole = new HomeRole();
