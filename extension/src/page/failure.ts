import type { Failure } from './contract.ts';

/** What a function of the page script throws when it says no. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(code: Failure['code'], message: string, detail?: unknown) {
    super(message);
    this.failure = detail === undefined ? { code, message } : { code, message, detail };
  }
}
