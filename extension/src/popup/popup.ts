/** The popup: what a person sees and decides. All it knows is what the worker last told it. */
import { identify } from '../worker/identity.ts';
import { changeWords } from './changes.ts';
import { after, shown } from './choice.ts';
import { type Command, type ProjectView, portName, type View } from './contract.ts';
import { draw } from './draw.ts';
import { element, write } from './page.ts';
import { downloadOf, retryWords } from './words.ts';

const { version } = chrome.runtime.getManifest();
let view: View = { projects: [] };
let told: View | undefined;
let chosen: string | undefined;
let isAdding = false;
let isConfirming = false;
let port: chrome.runtime.Port | undefined;
let tab: number | undefined;

function connectToWorker(): void {
  port = chrome.runtime.connect({ name: portName });
  port.onMessage.addListener(take);
  port.onDisconnect.addListener(connectToWorker); // Chrome stopped the worker; this starts it again
  if (tab !== undefined) tell({ do: 'look', tab });
}

function take(now: View): void {
  if (now.connected !== undefined) connected(now.connected);
  const words = changeWords(told, now);
  if (words !== '') write(element('said', HTMLElement), words);
  const isNone = now.projects.length === 0 && (told?.projects.length ?? 1) > 0;
  told = now;
  view = after(view, now);
  if (view.projects.length < 2) isConfirming = false;
  redraw();
  if (isNone) element('code', HTMLElement).focus();
}

function tell(command: Command): void {
  port?.postMessage(command);
}

/** A project was connected: it is the one to show. */
function connected(key: string): void {
  chosen = key;
  isAdding = false;
  element('code', HTMLTextAreaElement).value = '';
}

function project(): ProjectView | undefined {
  return shown(view, chosen);
}

function redraw(): void {
  draw({ view, project: project(), isAdding, isConfirming, version });
  drawRetry();
}

function drawRetry(): void {
  const link = project()?.link;
  write(element('retry', HTMLElement), link === undefined ? '' : retryWords(link, Date.now()));
}

/** Chrome's tab that the popup is about: named in the address when it is open as a page, else the active one. */
async function findTab(): Promise<void> {
  const named = new URLSearchParams(location.search).get('tab');
  const [active] =
    named === null ? await chrome.tabs.query({ active: true, lastFocusedWindow: true }) : [];
  tab = named === null ? active?.id : Number(named);
  if (tab !== undefined) tell({ do: 'look', tab });
}

function onClick(id: string, act: (chosen: ProjectView) => void): void {
  element(id, HTMLElement).addEventListener('click', () => {
    const shown = project();
    if (shown !== undefined) act(shown);
  });
}

/** Goes to the form for a connection code, or back. */
function adding(on: boolean): void {
  isAdding = on;
  redraw();
  element(on ? 'code' : 'add', HTMLElement).focus();
}

/** Asks once more before all is disconnected, or no longer does. */
function confirming(on: boolean): void {
  isConfirming = on;
  redraw();
  element(on ? 'confirm-no' : 'disconnect-all', HTMLElement).focus();
}

/** Leaves what was opened inside the popup; without, Chrome closes the popup itself. */
function leave(event: KeyboardEvent): void {
  if (event.key !== 'Escape') return;
  if (isConfirming) confirming(false);
  else if (isAdding && project() !== undefined) adding(false);
  else return;
  event.preventDefault();
}

function changeLevel({ target }: Event): void {
  if (!(target instanceof HTMLInputElement)) return;
  const of = Number(target.getAttribute('data-level-of') ?? tab);
  const isShared = project()?.tabs.some((one) => one.tab === of);
  if (isShared) tell({ do: 'level', tab: of, level: target.value === 'act' ? 'act' : 'read' });
}

function stop({ target }: Event): void {
  const stopped = target instanceof HTMLElement ? target.getAttribute('data-stop') : null;
  if (stopped !== null) tell({ do: 'unshare', tab: Number(stopped) });
}

function share(key: string): void {
  if (tab === undefined) return;
  const level = element('level-act', HTMLInputElement).checked ? 'act' : 'read';
  const stays = element('stays', HTMLInputElement);
  const isStaying = stays.checked && stays.getClientRects().length > 0;
  tell({ do: 'share', tab, project: key, share: isStaying ? { level, stays: true } : { level } });
}

element('connect-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  tell({ do: 'connect', code: element('code', HTMLTextAreaElement).value });
});
element('code', HTMLElement).addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey) return;
  event.preventDefault();
  element('connect-form', HTMLFormElement).requestSubmit();
});
element('projects', HTMLElement).addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement) chosen = target.value;
  redraw();
});
element('may-open', HTMLInputElement).addEventListener('change', (event) => {
  const shown = project();
  if (shown === undefined || !(event.currentTarget instanceof HTMLInputElement)) return;
  tell({ do: 'may_open', project: shown.key, on: event.currentTarget.checked });
});
element('levels', HTMLElement).addEventListener('change', changeLevel);
element('tabs', HTMLElement).addEventListener('change', changeLevel);
element('tabs', HTMLElement).addEventListener('click', stop);
element('unshare', HTMLElement).addEventListener('click', stop);
onClick('share', ({ key }) => share(key));
onClick('new-tab', ({ key }) => tell({ do: 'new_tab', project: key, share: { level: 'read' } }));
onClick('regroup', ({ key }) => tell({ do: 'regroup', project: key }));
onClick('again', ({ key }) => tell({ do: 'again', project: key }));
onClick('download', (shown) => void chrome.tabs.create({ url: downloadOf(shown) }));
onClick('disconnect', ({ key }) => tell({ do: 'disconnect', project: key }));
onClick('disconnect-all', () => confirming(true));
onClick('confirm-no', () => confirming(false));
onClick('confirm-yes', () => tell({ do: 'disconnect_all' }));
onClick('add', () => adding(true));
onClick('new-code', () => adding(true));
onClick('connect-cancel', () => adding(false));
document.addEventListener('keydown', leave);

const { browser } = identify('', version, navigator);
write(
  element('about', HTMLElement),
  `This browser: ${browser.name} ${browser.version} · Extension ${version}`,
);
setInterval(drawRetry, 1000);
connectToWorker();
void findTab();
