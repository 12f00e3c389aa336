/** The one file that names chrome.alarms: an alarm starts a worker that Chrome has stopped. */

const name = 'wake';
const periodMinutes = 0.5;

/** To be called synchronously when the worker starts. A worker that runs already is told of the alarm. */
export function listen(woken: () => void): void {
  chrome.alarms.onAlarm.addListener(woken);
  chrome.runtime.onStartup.addListener(() => undefined);
  chrome.runtime.onInstalled.addListener(() => undefined);
}

/** Turns the alarm on while there is something to wake for. */
export async function keep(wanted: boolean): Promise<void> {
  if (!wanted) {
    await chrome.alarms.clear(name);
  } else if ((await chrome.alarms.get(name)) === undefined) {
    await chrome.alarms.create(name, { periodInMinutes: periodMinutes });
  }
}
