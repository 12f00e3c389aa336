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

/** Tabs that were attached when the worker started: attachments outlive it. */
let survivors: ReadonlySet<number> = new Set();

/** To be called synchronously when the worker starts, so that Chrome wakes it for events. */
export function listen(listener: DebuggerListener): void {
  chrome.debugger.onEvent.addListener((source, method, params) => {
    if (source.tabId !== undefined) listener.event(source.tabId, source.sessionId, method, params);
  });
  chrome.debugger.onDetach.addListener((source, reason) => {
    if (source.tabId !== undefined) listener.detached(source.tabId, reason);
  });
}

export async function adopt(): Promise<number[]> {
  const targets = await chrome.debugger.getTargets();
  const tabs = targets.flatMap((target) =>
    target.attached && target.tabId !== undefined ? [target.tabId] : [],
  );
  survivors = new Set(tabs);
  return tabs;
}

/** Attaches to a tab. One that another debugger holds fails, unless the holder is an earlier life of this worker. */
export async function attach(tab: number): Promise<void> {
  try {
    await settled((done) => chrome.debugger.attach({ tabId: tab }, protocolVersion, done));
  } catch (cause) {
    if (!survivors.has(tab)) throw cause;
    await send(tab, undefined, 'Runtime.getIsolateId', undefined);
  }
}

/** Detaches; a tab that is not attached is no error. */
export async function detach(tab: number): Promise<void> {
  survivors = new Set([...survivors].filter((other) => other !== tab));
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

function settled(start: (done: (result?: unknown) => void) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    start((result) => {
      const problem = chrome.runtime.lastError;
      if (problem === undefined) resolve(result);
      else reject(new Error(problem.message ?? 'The debugger gave no reason.'));
    });
  });
}
