/** The one file that names chrome.alarms: an alarm starts a worker that Chrome has stopped. */

const name = 'wake';
/** Chrome makes half a minute of it where the extension is packed. */
const periodMinutes = 5 / 60;

/** To be called synchronously when the worker starts. A worker that runs already is told of the alarm. */
export function listen(woken: () => void): void {
  chrome.alarms.onAlarm.addListener(woken);
  chrome.runtime.onStartup.addListener(() => undefined);
  chrome.runtime.onInstalled.addListener(() => undefined);
}

/** Turns the alarm on while there is something to wake for. One that an earlier version left is set anew. */
export async function keep(wanted: boolean): Promise<void> {
  if (wanted) await chrome.alarms.create(name, { periodInMinutes: periodMinutes });
  else await chrome.alarms.clear(name);
}
