import { isLonger, maxSentBytes } from './bounds.ts';
import type { Flight, Hold } from './holds.ts';
import { fields, json, number, text } from './parse.ts';
import { type CallFailure, Refusal } from './wire.ts';

/** JSON-RPC's code of a refused command, as Chrome uses it. */
const refusedCode = -32_000;

/** What a page without a process answers. */
export const crashed: CallFailure = {
  code: refusedCode,
  message: 'The page has crashed; Page.navigate or Page.reload loads it anew.',
};

/** As Chrome says it. */
export const unknownChild: CallFailure = {
  code: -32_001,
  message: 'Session with given id not found.',
};

/** Answers a command once: with Chrome's refusal or with its result. */
export function answer(
  hold: Hold,
  { id, lift }: Flight,
  error: CallFailure | undefined,
  result?: unknown,
): void {
  if (!hold.flights.delete(id)) return;
  lift();
  if (error !== undefined) {
    hold.line.send({ t: 'reply', id, error });
    return;
  }
  const body = JSON.stringify(result);
  if (isLonger(body, maxSentBytes - 1024)) {
    const message = 'The answer is larger than the link carries.';
    hold.line.send({ t: 'error', id, code: 'too_large', message });
  } else {
    hold.line.send({ t: 'reply', id }, body);
  }
}

/** Answers a command once, with why it could not be passed on. */
export function refuse(hold: Hold, { id, lift }: Flight, cause: unknown): void {
  if (!hold.flights.delete(id)) return;
  lift();
  const code = cause instanceof Refusal ? cause.code : 'tab_suspended';
  const message = cause instanceof Error ? cause.message : String(cause);
  hold.line.send({ t: 'error', id, code, message });
}

/** Chrome's refusal as it says it; whatever else it says means that the tab is not attached. */
export function failureOf(problem: string): CallFailure {
  const told = fields(json(problem));
  const code = number(told, 'code');
  const message = text(told, 'message');
  if (code !== undefined && message !== undefined) return { code, message };
  const also = 'What was asked may have been done.';
  throw new Refusal('tab_suspended', `Chrome let the tab go: ${problem} ${also}`);
}
