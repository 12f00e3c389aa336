/**
 * The one file that names chrome.debugger. Replies keep the order of their commands, because the callback form of
 * sendCommand does (the promise form does not).
 */

export type Params = object | undefined;

export type DebuggerListener = {
  event(tab: number, child: string | undefined, method: string, params: unknown): void;
  detached(tab: number, reason: string): void;
};

const protocolVersion = '1.3';

/** To be called synchronously when the worker starts, so that Chrome wakes it for events. */
export function listen(listener: DebuggerListener): void {
  chrome.debugger.onEvent.addListener((source, method, params) => {
    if (source.tabId !== undefined) listener.event(source.tabId, source.sessionId, method, params);
  });
  chrome.debugger.onDetach.addListener((source, reason) => {
    if (source.tabId !== undefined) listener.detached(source.tabId, reason);
  });
}

/** The tabs that a debugger is attached to: this worker's, of an earlier life too, or another's. */
export async function attached(): Promise<number[]> {
  const targets = await chrome.debugger.getTargets();
  return targets.flatMap((target) =>
    target.attached && target.tabId !== undefined ? [target.tabId] : [],
  );
}

/** The CDP target ids of all tabs, by tab. */
export async function targets(): Promise<ReadonlyMap<number, string>> {
  const all = await chrome.debugger.getTargets();
  return new Map(all.flatMap(({ tabId, id }) => (tabId === undefined ? [] : [[tabId, id]])));
}

/** Attaches to a tab. One that another debugger holds fails. */
export function attach(tab: number): Promise<void> {
  return settled((done) => chrome.debugger.attach({ tabId: tab }, protocolVersion, done)).then(
    () => undefined,
  );
}

/** Detaches; a tab that is not attached is no error. */
export async function detach(tab: number): Promise<void> {
  await settled((done) => chrome.debugger.detach({ tabId: tab }, done)).catch(() => undefined);
}

/** Sends one command to the tab's page or to a child session of it. */
export function send(
  tab: number,
  child: string | undefined,
  method: string,
  params: Params,
): Promise<unknown> {
  const target = child === undefined ? { tabId: tab } : { tabId: tab, sessionId: child };
  return settled((done) => chrome.debugger.sendCommand(target, method, params, done));
}

/** As send; `done` is called with the result or the problem at once, before Chrome tells anything else. */
export function command(
  tab: number,
  child: string | undefined,
  method: string,
  params: object,
  done: (result: unknown, problem?: string) => void,
): void {
  const target = child === undefined ? { tabId: tab } : { tabId: tab, sessionId: child };
  chrome.debugger.sendCommand(target, method, params, (result?: unknown) => {
    const problem = chrome.runtime.lastError;
    if (problem === undefined) done(result);
    else done(undefined, problem.message ?? 'The debugger gave no reason.');
  });
}

function settled(start: (done: (result?: unknown) => void) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    start((result) => {
      const problem = chrome.runtime.lastError;
      if (problem === undefined) resolve(result);
      else reject(new Error(problem.message ?? 'The debugger gave no reason.'));
    });
  });
}
