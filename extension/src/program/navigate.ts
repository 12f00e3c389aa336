import { at, textAt } from '../policy/json.ts';
import { Ended, type Span } from './clock.ts';
import { CallError, Fault } from './failure.ts';
import type { View } from './view.ts';
import type { Worlds } from './world.ts';

/**
 * How long a server's challenge may stand: a browser without a window turns it down at once and goes on to the page that
 * came with it, one with a window asks the person, and nothing comes until that is done.
 */
const LOGIN_PATIENCE_MS = 700;

/**
 * Sends Page.navigate. Its reply is the step's result; what the browser says of a navigation that brings no document is a
 * navigation_failed, with an Answer for its detail where the page told of its requests.
 */
export async function navigate(
  worlds: Worlds,
  view: View,
  span: Span,
  params: object,
): Promise<unknown> {
  const over = new AbortController();
  try {
    const asked = worlds.ask(span, '', 'Page.navigate', params);
    const reply = (await Promise.race([asked, login(view, span, over.signal)])) ?? null;
    readReply(view, reply);
    return reply;
  } catch (cause) {
    throw cause instanceof CallError ? notLoaded(view, cause.message) : cause;
  } finally {
    over.abort();
    view.update(() => undefined); // whoever waits for a challenge waits no more
  }
}

/** Rejects once a server asks for a login that nobody gives. */
async function login(view: View, span: Span, over: AbortSignal): Promise<never> {
  for (;;) {
    await view.until(span, () => over.aborted || view.requests.isChallenged);
    if (over.aborted) return await new Promise<never>(() => undefined);
    try {
      await view.until(
        span.part(LOGIN_PATIENCE_MS),
        () => over.aborted || !view.requests.isChallenged,
      );
    } catch (cause) {
      if (!(cause instanceof Ended) || span.over() !== undefined) throw cause;
      throw notLoaded(view, 'a user and a password are asked for');
    }
  }
}

/** Reads the reply, which comes once it is clear which document will follow. */
function readReply(view: View, reply: unknown): void {
  const error = textAt(reply, 'errorText');
  if (at(reply, 'isDownload') === true) {
    throw notLoaded(view, `${error}: the address is a download, the page stays`);
  }
  if (error === 'net::ERR_ABORTED') {
    const why = 'the answer is a download or holds no document, or another navigation came between';
    throw notLoaded(view, `${error}: ${why}`);
  }
  if (error !== '') throw notLoaded(view, error);
  const loader = textAt(reply, 'loaderId');
  if (loader !== '') view.navigation.start(loader);
}

function notLoaded(view: View, message: string): Fault {
  const { answer } = view.requests;
  return new Fault('navigation_failed', message, answer && { ...answer });
}
