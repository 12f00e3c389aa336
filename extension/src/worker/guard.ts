/** The one file that names chrome.declarativeNetRequest. */
import type { Rule } from './rules.ts';

/** Keeps the session's rules equal to the wanted ones, one change after the other. */
export class Guard {
  #last: Promise<void> = Promise.resolve();
  /** What Chrome has taken, where that is known. */
  #installed: string | undefined;

  /** Installs exactly these rules. It rejects when Chrome does not take them; earlier ones then stay. */
  install(wanted: readonly Rule[]): Promise<void> {
    const next = this.#last.then(() => this.#replace(wanted));
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #replace(wanted: readonly Rule[]): Promise<void> {
    const text = JSON.stringify(wanted);
    if (text === this.#installed) return;
    this.#installed = undefined;
    const present = await chrome.declarativeNetRequest.getSessionRules();
    await chrome.declarativeNetRequest.updateSessionRules({
      removeRuleIds: present.map((rule) => rule.id),
      addRules: [...wanted],
    });
    this.#installed = text;
  }
}
