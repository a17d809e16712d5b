// A page on which nothing may go wrong unnoticed: console errors, failed requests, refusals of the
// Content-Security-Policy. What a test means to provoke, it allows.
import type { Page } from 'playwright-core';

export class Watch {
  readonly faults: string[] = [];
  #allowed: RegExp[] = [];

  constructor(page: Page) {
    page.on('console', (message) => {
      if (message.type() === 'error') this.#note(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.#note(`exception: ${error.stack ?? error.message}`));
    page.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText ?? '';
      // A page that is left cancels what it was loading.
      if (reason !== 'net::ERR_ABORTED') this.#note(`failed: ${request.method()} ${request.url()} ${reason}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400)
        this.#note(`${response.status()}: ${response.request().method()} ${response.url()}`);
    });
  }

  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  #note(fault: string): void {
    if (!this.#allowed.some((pattern) => pattern.test(fault))) this.faults.push(fault);
  }
}

/** Runs in the page before anything else: refusals become console errors, which the watch sees. */
export function reportRefusals(): void {
  document.addEventListener('securitypolicyviolation', (event) => {
    console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
  });
}
