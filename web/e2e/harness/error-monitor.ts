// Records console errors, exceptions, failed requests and Content-Security-Policy violations of a page. A test allows the
// errors that it expects.
import type { Page } from 'playwright-core';

export class ErrorMonitor {
  readonly errors: string[] = [];
  #allowed: RegExp[] = [];

  constructor(page: Page) {
    page.on('console', (message) => {
      if (message.type() === 'error') this.#record(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.#record(`exception: ${error.stack ?? error.message}`));
    page.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText ?? '';
      // Navigation cancels pending requests.
      if (reason !== 'net::ERR_ABORTED') this.#record(`failed: ${request.method()} ${request.url()} ${reason}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400)
        this.#record(`${response.status()}: ${response.request().method()} ${response.url()}`);
    });
  }

  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  #record(error: string): void {
    if (!this.#allowed.some((pattern) => pattern.test(error))) this.errors.push(error);
  }
}

/** Init script: reports Content-Security-Policy violations as console errors. */
export function reportCspViolations(): void {
  document.addEventListener('securitypolicyviolation', (event) => {
    console.error(`CSP violation: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
  });
}
