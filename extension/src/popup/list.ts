/** The list of shared tabs that are not the one below the popup. */
import type { ProjectView, TabView } from './contract.ts';
import { arrange, element, part, type Rows, say, write, writeCut } from './page.ts';
import { hostWords, pausedWords, tabWords } from './words.ts';

export function drawTabs(project: ProjectView | undefined, current: number | undefined): void {
  const others = project?.tabs.filter(({ tab }) => tab !== current) ?? [];
  const canAct = project?.ceiling === 'act';
  arrange(element('tabs', HTMLUListElement), others, rowsWhere(canAct));
}

function rowsWhere(canAct: boolean): Rows<TabView> {
  return {
    key: ({ tab }) => String(tab),
    make: newRow,
    show: (row, tab) => drawRow(row, tab, canAct),
  };
}

function newRow({ tab }: TabView): HTMLElement {
  const { content } = element('tab-row', HTMLTemplateElement);
  const row = part(content.cloneNode(true) as DocumentFragment, 'li', HTMLLIElement);
  part(row, 'button', HTMLButtonElement).setAttribute('data-stop', String(tab));
  for (const radio of radiosOf(row)) {
    radio.name = `level-${tab}`;
    radio.setAttribute('data-level-of', String(tab));
  }
  return row;
}

function drawRow(row: HTMLElement, tab: TabView, canAct: boolean): void {
  writeCut(part(row, '.title', HTMLElement), tab.title);
  writeCut(part(row, '.host', HTMLElement), hostWords(tab.url));
  say(part(row, '.more', HTMLElement), tabWords(tab));
  part(row, '.use', HTMLElement).hidden = !tab.used || tab.suspended !== undefined;
  say(
    part(row, '.paused', HTMLElement),
    tab.suspended === undefined ? '' : pausedWords(tab.suspended),
  );
  part(row, 'button', HTMLElement).setAttribute('aria-label', `Stop sharing ${tab.title}`);
  part(row, '.level', HTMLElement).hidden = canAct;
  part(row, '.segments', HTMLElement).hidden = !canAct;
  write(part(row, 'legend', HTMLElement), `What agents may do in ${tab.title}`);
  for (const radio of radiosOf(row)) radio.checked = radio.value === tab.level;
}

function radiosOf(row: HTMLElement): HTMLInputElement[] {
  return [...row.querySelectorAll('input')];
}
