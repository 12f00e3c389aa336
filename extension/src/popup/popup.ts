/** The popup: what a person sees and decides. All it knows is what the worker last told it. */
import { type Command, type ProjectView, portName, type View } from './contract.ts';
import { draw } from './draw.ts';
import { element } from './page.ts';

let view: View = { projects: [] };
let chosen: string | undefined;
let isAdding = false;
let port: chrome.runtime.Port | undefined;
let tab: number | undefined;

function connectToWorker(): void {
  port = chrome.runtime.connect({ name: portName });
  port.onMessage.addListener((told: View) => {
    if (told.connected !== undefined) connected(told.connected);
    view = told;
    redraw();
  });
  port.onDisconnect.addListener(connectToWorker); // Chrome stopped the worker; this starts it again
  if (tab !== undefined) tell({ do: 'look', tab });
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

/** The chosen project, else the one that the current tab is shared with, else the first. */
function project(): ProjectView | undefined {
  const find = (key: string | undefined) => view.projects.find((one) => one.key === key);
  return find(chosen) ?? find(view.current?.project) ?? view.projects[0];
}

function redraw(): void {
  draw({ view, project: project(), isAdding });
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

function adding(on: boolean): void {
  isAdding = on;
  redraw();
  if (on) element('code', HTMLElement).focus();
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
element('project-select', HTMLSelectElement).addEventListener('change', (event) => {
  if (event.currentTarget instanceof HTMLSelectElement) chosen = event.currentTarget.value;
  redraw();
});
element('levels', HTMLElement).addEventListener('change', (event) => {
  const shown = project();
  const isShared = shown?.tabs.some((one) => one.tab === tab);
  if (!isShared || tab === undefined || !(event.target instanceof HTMLInputElement)) return;
  tell({ do: 'level', tab, level: event.target.value === 'act' ? 'act' : 'read' });
});
element('tabs', HTMLElement).addEventListener('click', (event) => {
  const stop = event.target instanceof HTMLElement ? event.target.getAttribute('data-stop') : null;
  if (stop !== null) tell({ do: 'unshare', tab: Number(stop) });
});
element('may-open', HTMLInputElement).addEventListener('change', (event) => {
  const shown = project();
  if (shown === undefined || !(event.currentTarget instanceof HTMLInputElement)) return;
  tell({ do: 'may_open', project: shown.key, on: event.currentTarget.checked });
});
onClick('share', ({ key }) => {
  const level = element('level-act', HTMLInputElement).checked ? 'act' : 'read';
  if (tab !== undefined) tell({ do: 'share', tab, project: key, share: { level } });
});
onClick('unshare', () => {
  if (tab !== undefined) tell({ do: 'unshare', tab });
});
onClick('again', ({ key }) => tell({ do: 'again', project: key }));
onClick('disconnect', ({ key }) => tell({ do: 'disconnect', project: key }));
onClick('add', () => adding(true));
onClick('new-code', () => adding(true));
onClick('connect-cancel', () => adding(false));

connectToWorker();
void findTab();
