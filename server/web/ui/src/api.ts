/** The public API, and who is logged in. The access token lives in memory only; the cookie renews it. */
import { fields, moment, text } from './parse.ts';

/** A refusal in the API's own words. */
export class Refused extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

type Access = { token: string; renewAt: number };

/** How long before its end a token is renewed. */
const margin = 60_000;

export class Api {
  #access: Access | undefined;
  #renewing: Promise<void> | undefined;
  readonly #onLogout: () => void;

  constructor(onLogout: () => void) {
    this.#onLogout = onLogout;
  }

  /** Log in with a one-time code. */
  async login(code: string): Promise<void> {
    this.#keep(await answer(await post('/auth/login', { code })));
  }

  /** Renew by the cookie; false when nobody is logged in. */
  async resume(): Promise<boolean> {
    try {
      await this.#renew();
      return true;
    } catch (error) {
      if (error instanceof Refused) {
        return false;
      }
      throw error;
    }
  }

  async logout(): Promise<void> {
    try {
      await answer(await post('/auth/logout'));
    } finally {
      this.#access = undefined;
      this.#onLogout();
    }
  }

  async get<T>(path: string, parse: (value: unknown) => T): Promise<T> {
    return parse(await answer(await this.open(path)));
  }

  async ask<T>(method: Method, path: string, parse: (value: unknown) => T): Promise<T> {
    return parse(await answer(await this.open(path, { method })));
  }

  /** One request with the bearer; a token that has just ended is renewed once. */
  async open(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.#send(path, init);
    if (response.status !== 401) {
      return response;
    }
    this.#access = undefined;
    return await this.#send(path, init);
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${await this.#token()}`);
    return await fetch(`/api/v1${path}`, { ...init, headers, credentials: 'omit' });
  }

  async #token(): Promise<string> {
    if (this.#access === undefined || Date.now() > this.#access.renewAt) {
      await this.#renewOrLeave();
    }
    return this.#access?.token ?? '';
  }

  async #renewOrLeave(): Promise<void> {
    try {
      await this.#renew();
    } catch (error) {
      if (error instanceof Refused) {
        this.#onLogout();
      }
      throw error;
    }
  }

  /** A refresh token works once, so the tabs of a browser take turns, and calls of one tab share one renewal. */
  #renew(): Promise<void> {
    this.#renewing ??= navigator.locks
      .request('chaperone-refresh', async () =>
        this.#keep(await answer(await post('/auth/refresh'))),
      )
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  #keep(value: unknown): void {
    const { access_token, access_expires } = fields(value);
    const ends = moment(access_expires)?.getTime() ?? 0;
    this.#access = { token: text(access_token), renewAt: ends - margin };
  }
}

function post(path: string, body?: unknown): Promise<Response> {
  return fetch(`/api/v1${path}`, {
    method: 'POST',
    credentials: 'same-origin',
    body: body === undefined ? null : JSON.stringify(body),
  });
}

/** The answer's JSON, or the refusal that it is. */
export async function answer(response: Response): Promise<unknown> {
  if (response.status === 204) {
    return undefined;
  }
  const value: unknown = await response.json().catch(() => undefined);
  if (response.ok) {
    return value;
  }
  throw refusal(value, response.status);
}

/** The refusal that an answer's JSON tells. */
export function refusal(value: unknown, status: number): Refused {
  try {
    const { error } = fields(value);
    const { code, message, hint } = fields(error);
    return new Refused(text(code), text(message), text(hint));
  } catch {
    return new Refused('unavailable', `The server answered ${status}.`, 'Is it still running?');
  }
}
