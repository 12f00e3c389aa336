/** After a detach by Chrome the page may be attachable again at these times. */
const retryMS = [0, 250, 500, 1000];

/** Attaches to a tab, unless and until it is let go meanwhile. */
export async function attachWithPatience(
  port: { attach(tab: number): Promise<void> },
  tab: number,
  gone: AbortSignal,
): Promise<void> {
  let problem: unknown;
  for (const wait of retryMS) {
    if (wait > 0) await before([gone], new Promise((resolve) => setTimeout(resolve, wait)));
    gone.throwIfAborted();
    try {
      await port.attach(tab);
      return;
    } catch (cause) {
      problem = cause;
    }
  }
  throw problem;
}

/** Waits for a promise until one of the signals says that it is no use any more. */
export async function before<T>(
  signals: readonly (AbortSignal | undefined)[],
  promise: Promise<T>,
): Promise<T> {
  const any = AbortSignal.any(signals.flatMap((signal) => signal ?? []));
  any.throwIfAborted();
  let forget = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const end = () => reject(any.reason);
    any.addEventListener('abort', end);
    forget = () => any.removeEventListener('abort', end);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}

/** Waits for a promise, but no longer than this; whether it was done by then. */
export async function within(ms: number, done: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([done.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}
