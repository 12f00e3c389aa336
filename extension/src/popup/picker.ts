/** The projects to choose from, where there are several. */
import { offered } from './choice.ts';
import type { ProjectView, View } from './contract.ts';
import { arrange, element, make, part, type Rows, say, write, writeCut } from './page.ts';
import { counted, hostWords, statusWords } from './words.ts';

export function drawPicker(view: View, shown: ProjectView): void {
  const isChoice = view.projects.length > 1;
  const list = element('projects', HTMLFieldSetElement);
  list.hidden = !isChoice;
  element('project-name', HTMLElement).hidden = isChoice;
  writeCut(element('project-name', HTMLElement), shown.name);
  arrange(list, isChoice ? offered(view) : [], chipsOf(view, shown));
}

function chipsOf(view: View, shown: ProjectView): Rows<ProjectView> {
  return {
    key: ({ key }) => key,
    make: newChip,
    show: (chip, project) => {
      writeCut(part(chip, '.chip-name', HTMLElement), project.name);
      say(
        part(chip, '.chip-server', HTMLElement),
        hasTwin(project, view) ? twinWords(project) : '',
      );
      const count = part(chip, '.chip-count', HTMLElement);
      write(count, project.tabs.length === 0 ? '' : String(project.tabs.length));
      chip.setAttribute('data-link', project.link.is);
      write(part(chip, '.unseen', HTMLElement), `, ${unseenWords(project, view)}`);
      part(chip, 'input', HTMLInputElement).checked = project.key === shown.key;
    },
  };
}

function newChip({ key }: ProjectView): HTMLElement {
  const chip = make('label', 'chip', '');
  const radio = document.createElement('input');
  radio.type = 'radio';
  radio.name = 'project';
  radio.value = key;
  const name = make('span', 'chip-name', '');
  name.dir = 'auto';
  const count = make('span', 'chip-count', '');
  count.setAttribute('aria-hidden', 'true');
  chip.append(
    radio,
    make('span', 'dot', ''),
    name,
    make('span', 'chip-server', ''),
    count,
    make('span', 'unseen', ''),
  );
  return chip;
}

/** Whether another project has the same name. */
function hasTwin({ key, name }: ProjectView, view: View): boolean {
  return view.projects.some((one) => one.key !== key && one.name === name);
}

function twinWords({ server }: ProjectView): string {
  return hostWords(server);
}

function unseenWords({ key, link, tabs }: ProjectView, view: View): string {
  return [
    statusWords(link),
    counted(tabs.length, 'shared tab'),
    ...(view.current?.project === key ? ['this tab among them'] : []),
  ].join(', ');
}
