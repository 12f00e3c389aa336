import type { CurrentView, ProjectView, TabView, View } from './contract.ts';
import { keepFocus } from './focus.ts';
import { drawTabs } from './list.ts';
import { element, hide, part, say, write, writeCut } from './page.ts';
import { drawPicker } from './picker.ts';
import {
  actWords,
  confirmWords,
  downloadOf,
  emptyWords,
  hostWords,
  levelWords,
  listWords,
  mayOpenWords,
  needsCode,
  noteWords,
  readWords,
  serverWords,
  statusWords,
  staysOffer,
  staysWords,
  troubleWords,
} from './words.ts';

/** What is shown: what the worker told, and what the person chose here. */
export type Shown = {
  view: View;
  project: ProjectView | undefined;
  isAdding: boolean;
  isConfirming: boolean;
  /** The extension's own. */
  version: string;
};

/**
 * Brings the whole popup in line with what is to be shown. What ends something comes first, and no part takes another
 * down with it.
 */
export function draw(all: Shown): void {
  keepFocus(() => {
    const { view, isAdding } = all;
    const isConnecting = isAdding || all.project === undefined;
    const project = isConnecting ? undefined : all.project;
    const failures = [
      () => drawSections(isConnecting, all.project !== undefined),
      () => drawFooter(all),
      () => drawTabs(project, view.current?.tab),
      () => drawStatus(project),
      () => drawCurrent(view.current, project, view),
      () => drawShared(project, view.current),
      () => drawProject(project, all),
    ].flatMap((draw) => failureOf(draw) ?? []);
    say(element('problem', HTMLElement), view.problem ?? failures[0] ?? '');
    const isWrong = isConnecting && view.problem !== undefined;
    element('code', HTMLElement).setAttribute('aria-invalid', String(isWrong));
  });
}

function failureOf(draw: () => void): string | undefined {
  try {
    draw();
    return undefined;
  } catch (cause) {
    return `Not all can be shown: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

function drawSections(isConnecting: boolean, isConnected: boolean): void {
  for (const id of ['actions', 'project', 'settings']) hide(id, isConnecting);
  hide('connecting', !isConnecting);
  hide('connect-cancel', !isConnected);
}

function drawFooter({ view, isAdding, isConfirming, project }: Shown): void {
  const isAsking = isConfirming && !isAdding && project !== undefined;
  if (isAsking) hide('actions', true);
  hide('confirm', !isAsking);
  hide('disconnect-all', view.projects.length < 2);
  write(element('confirm-text', HTMLElement), confirmWords(view));
  element('disconnect-all', HTMLElement).setAttribute('aria-expanded', String(isAsking));
  element('disconnect', HTMLElement).setAttribute(
    'aria-label',
    `Disconnect ${project?.name ?? ''}`,
  );
}

function drawStatus(project: ProjectView | undefined): void {
  const status = element('status', HTMLElement);
  status.setAttribute('data-link', project?.link.is ?? '');
  write(status, project === undefined ? '' : statusWords(project.link));
}

function drawProject(project: ProjectView | undefined, { view, version }: Shown): void {
  if (project === undefined) return;
  drawPicker(view, project);
  writeCut(element('server', HTMLElement), serverWords(project));
  const trouble = troubleWords(project, version);
  hide('trouble', trouble === '');
  write(element('trouble-text', HTMLElement), trouble);
  element('trouble', HTMLElement).setAttribute('data-link', project.link.is);
  hide('again', trouble === '');
  write(element('again', HTMLElement), project.link.is === 'refused' ? 'Connect again' : 'Try now');
  hide('new-code', !needsCode(project));
  hide('download', downloadOf(project) === '');
  element('may-open', HTMLInputElement).checked = project.mayOpen;
  write(element('may-open-text', HTMLElement), mayOpenWords(project));
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
  const isShared = shared !== undefined || other !== undefined;
  const canShare = !isShared && current.unusable === undefined;
  const isOffered = canShare && project.link.is !== 'refused';
  drawPage(current);
  if (shared === undefined) resetChoice();
  element('card', HTMLElement).setAttribute('data-shared', String(shared !== undefined));
  drawNote(shared, noteWords(current, project, other?.name));
  hide('share', !canShare);
  element('share', HTMLButtonElement).disabled = !isOffered;
  drawStop(isShared ? current.tab : undefined);
  drawLevels(project, shared, isOffered);
  drawStays(current, shared, isOffered);
}

/** What was chosen for a tab that was shared is not chosen for the next: less is the default. */
function resetChoice(): void {
  if (element('card', HTMLElement).getAttribute('data-shared') !== 'true') return;
  element('level-read', HTMLInputElement).checked = true;
  element('stays', HTMLInputElement).checked = false;
}

function drawNote(shared: TabView | undefined, words: string): void {
  const isPaused = shared?.suspended !== undefined;
  const note = element('current-note', HTMLElement);
  note.setAttribute('data-paused', String(isPaused));
  say(note, words);
  hide('current-use', shared?.used !== true || isPaused);
}

function drawPage(page: CurrentView): void {
  const into = element('current-page', HTMLElement);
  const host = hostWords(page.url);
  const title = page.title || host || 'Blank tab';
  writeCut(part(into, '.title', HTMLElement), title);
  say(part(into, '.host', HTMLElement), title === host ? '' : host);
}

function drawStop(tab: number | undefined): void {
  const stop = element('unshare', HTMLElement);
  stop.hidden = tab === undefined;
  if (tab === undefined) stop.removeAttribute('data-stop');
  else stop.setAttribute('data-stop', String(tab));
}

function drawLevels(project: ProjectView, shared: TabView | undefined, isOffered: boolean): void {
  const canAct = project.ceiling === 'act';
  hide('levels', !isOffered && (shared === undefined || !canAct));
  element('level-act', HTMLInputElement).disabled = !canAct;
  write(element('level-read-text', HTMLElement), readWords);
  write(element('level-act-text', HTMLElement), actWords(project));
  const words = shared === undefined ? '' : levelWords(project, shared);
  say(element('level-words', HTMLElement), words);
  const level = canAct ? shared?.level : 'read';
  if (level !== undefined) element(`level-${level}`, HTMLInputElement).checked = true;
}

function drawStays(current: CurrentView, shared: TabView | undefined, isOffered: boolean): void {
  const isSite = /^https?:/.test(current.url);
  hide('stays-choice', !(isOffered && isSite) && shared?.stays !== true);
  element('stays', HTMLInputElement).hidden = shared !== undefined;
  element('stays', HTMLInputElement).disabled = shared !== undefined;
  write(element('stays-words', HTMLElement), shared === undefined ? staysOffer : staysWords);
}

function drawShared(project: ProjectView | undefined, current: CurrentView | undefined): void {
  hide('shared', project === undefined);
  if (project === undefined) return;
  const others = project.tabs.filter(({ tab }) => tab !== current?.tab).length;
  write(element('shared-title', HTMLElement), listWords(project.tabs.length, others));
  hide('regroup', project.tabs.length === 0);
  hide('tabs', others === 0);
  say(element('empty', HTMLElement), emptyWords(project, current));
  element('new-tab', HTMLButtonElement).disabled = project.link.is === 'refused';
}
