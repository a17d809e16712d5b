// Whether the service is reachable; shown in the banner at the top. While it is not, it is probed, so that the banner goes
// away even if the user does nothing.
const PROBE_INTERVAL_MS = 2_000;

class Connection {
  isLost = $state(false);
  #timer: ReturnType<typeof setInterval> | undefined;

  lost = (): void => {
    this.isLost = true;
    this.#timer ??= setInterval(() => void this.#probe(), PROBE_INTERVAL_MS);
  };

  restored = (): void => {
    this.isLost = false;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  async #probe(): Promise<void> {
    const signal = AbortSignal.timeout(PROBE_INTERVAL_MS);
    const response = await fetch('/healthz', { cache: 'no-store', signal }).catch(() => undefined);
    if (response?.ok) this.restored();
  }
}

export const connection = new Connection();
