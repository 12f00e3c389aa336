import type { Level } from '../worker/grants.ts';
import type { CurrentView, ProjectView, TabView, View } from './contract.ts';
import { element, make, say } from './page.ts';
import {
  actWords,
  choiceWords,
  hostWords,
  needsCode,
  noteWords,
  statusWords,
  tabWords,
  troubleWords,
} from './words.ts';

/** What is shown: what the worker told, and what the person chose here. */
export type Shown = { view: View; project: ProjectView | undefined; isAdding: boolean };

/**
 * Brings the whole popup in line with what is to be shown. What ends something comes first, and no part takes another
 * down with it.
 */
export function draw({ view, project, isAdding }: Shown): void {
  const isConnecting = isAdding || project === undefined;
  const shown = isConnecting ? undefined : project;
  const failures = [
    () => drawSections(isConnecting, project !== undefined),
    () => drawTabs(shown?.tabs ?? [], view.current?.tab),
    () => drawStatus(shown),
    () => drawCurrent(isConnecting ? undefined : view.current, project, view),
    () => drawProject(project, view),
  ].flatMap((part) => failureOf(part) ?? []);
  say(element('problem', HTMLElement), view.problem ?? failures[0] ?? '');
}

function failureOf(part: () => void): string | undefined {
  try {
    part();
    return undefined;
  } catch (cause) {
    return `Not all can be shown: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

function drawSections(isConnecting: boolean, isConnected: boolean): void {
  for (const id of ['footer', 'project', 'settings']) {
    element(id, HTMLElement).hidden = isConnecting;
  }
  element('connecting', HTMLElement).hidden = !isConnecting;
  element('connect-cancel', HTMLElement).hidden = !isConnected;
}

function drawStatus(project: ProjectView | undefined): void {
  const status = element('status', HTMLElement);
  status.setAttribute('data-link', project?.link.is ?? '');
  const words = project === undefined ? '' : statusWords(project.link);
  if (status.textContent !== words) status.textContent = words;
}

function drawProject(project: ProjectView | undefined, view: View): void {
  if (project === undefined) return;
  const isChoice = view.projects.length > 1;
  element('project-choice', HTMLElement).hidden = !isChoice;
  element('project-name', HTMLElement).hidden = isChoice;
  element('project-name', HTMLElement).textContent = project.name;
  element('server', HTMLElement).textContent = `${hostWords(project.server)}`;
  const select = element('project-select', HTMLSelectElement);
  select.replaceChildren(
    ...view.projects.map((one) => {
      const isShown = one.key === project.key;
      return new Option(choiceWords(one, view.projects), one.key, isShown, isShown);
    }),
  );
  const trouble = troubleWords(project);
  element('trouble', HTMLElement).hidden = trouble === '';
  element('trouble-text', HTMLElement).textContent = trouble;
  element('again', HTMLElement).hidden = project.link.is !== 'refused';
  element('new-code', HTMLElement).hidden = !needsCode(project);
  element('may-open', HTMLInputElement).checked = project.mayOpen;
}

function drawCurrent(
  current: CurrentView | undefined,
  project: ProjectView | undefined,
  view: View,
): void {
  const section = element('current', HTMLElement);
  section.hidden = current === undefined || project === undefined;
  if (current === undefined || project === undefined) return;
  const other = view.projects.find(({ key }) => key === current.project && key !== project.key);
  const shared = project.tabs.find(({ tab }) => tab === current.tab);
  drawPage(element('current-page', HTMLElement), current);
  element('current-page', HTMLElement).hidden = shared !== undefined; // the list marks it
  say(element('current-note', HTMLElement), noteWords(current, project, other?.name));
  const canShare = shared === undefined && other === undefined && current.unusable === undefined;
  element('levels', HTMLElement).hidden = !canShare && shared === undefined;
  element('share', HTMLButtonElement).hidden = !canShare;
  element('share', HTMLButtonElement).disabled = project.link.is === 'refused';
  element('unshare', HTMLElement).hidden = shared === undefined && other === undefined;
  drawLevels(project, shared?.level);
}

function drawLevels(project: ProjectView, level: Level | undefined): void {
  const act = element('level-act', HTMLInputElement);
  act.disabled = project.ceiling === 'read';
  element('level-act-text', HTMLElement).textContent = actWords(project);
  const shown = act.disabled ? 'read' : level;
  if (shown !== undefined) element(`level-${shown}`, HTMLInputElement).checked = true;
}

function drawPage(into: HTMLElement, page: { title: string; url: string }): void {
  const host = hostWords(page.url);
  into.replaceChildren(
    make('span', 'title', page.title || host),
    make('span', 'host', page.title === host ? '' : host),
  );
}

/** Draws the list anew only where it reads otherwise, so that a button under the keyboard stays. */
function drawTabs(tabs: readonly TabView[], current: number | undefined): void {
  element('shared', HTMLElement).hidden = tabs.length === 0;
  const list = element('tabs', HTMLUListElement);
  const reads = JSON.stringify([tabs, current]);
  if (list.getAttribute('data-reads') === reads) return;
  list.setAttribute('data-reads', reads);
  const focused = document.activeElement?.getAttribute('data-stop');
  list.replaceChildren(...tabs.map((tab) => drawTab(tab, tab.tab === current)));
  if (focused) list.querySelector<HTMLElement>(`[data-stop="${focused}"]`)?.focus();
}

function drawTab(tab: TabView, isCurrent: boolean): HTMLElement {
  const item = make('li', '', '');
  if (isCurrent) item.setAttribute('aria-current', 'true');
  const what = make('span', 'what', '');
  what.append(make('span', 'title', tab.title), make('span', 'host', tabWords(tab, isCurrent)));
  const level = make('span', 'level', tab.level === 'act' ? 'Act' : 'Read');
  level.setAttribute('data-level', tab.level);
  const stop = make('button', 'quiet danger', 'Stop');
  stop.setAttribute('data-stop', String(tab.tab));
  stop.setAttribute('aria-label', `Stop sharing ${tab.title}`);
  item.append(what, level, stop);
  return item;
}
