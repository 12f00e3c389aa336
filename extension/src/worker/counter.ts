/** The one file that names chrome.runtime's ports: where the popup is served. */
import { type Command, portName, type View } from '../popup/contract.ts';
import { readCode } from './code.ts';
import type { Desk } from './desk.ts';
import { drop, type Level, readLevel, update } from './grants.ts';
import { newPairing } from './pairings.ts';
import { fields, member, number, text } from './parse.ts';
import { addressOf, find } from './tabs.ts';
import { bareView, type Outcome, viewOf } from './view.ts';

/** To be called synchronously when the worker starts. */
export function listen(desk: Promise<Desk>): void {
  chrome.runtime.onConnect.addListener((port) => {
    if (port.name !== portName || !isPopup(port.sender)) return;
    const counter = desk.then((ready) => new Counter(ready, port)); // the popup speaks before memory is read
    counter.catch((cause: unknown) => {
      tell(port, { projects: [], problem: `Chaperone could not start: ${words(cause)}` });
    });
    port.onMessage.addListener((message: unknown) => {
      void counter.then((ready) => ready.serve(readCommand(message))).catch(() => undefined);
    });
  });
}

/** Serves one open popup. */
class Counter {
  readonly #desk: Desk;
  readonly #port: chrome.runtime.Port;
  #tab: number | undefined;
  #outcome: Outcome = {};

  constructor(desk: Desk, port: chrome.runtime.Port) {
    this.#desk = desk;
    this.#port = port;
    const leave = desk.watch(() => void this.#show());
    port.onDisconnect.addListener(leave);
    void this.#show();
  }

  async serve(command: Command | undefined): Promise<void> {
    if (command === undefined) return;
    try {
      this.#outcome = await this.#outcomeOf(command);
    } catch (cause) {
      this.#outcome = { problem: `This was not done: ${words(cause)}` };
    }
    await this.#show();
  }

  async #outcomeOf(command: Command): Promise<Outcome> {
    if (command.do === 'connect') return this.#connect(command.code);
    const problem = await this.#do(command);
    return problem === undefined ? {} : { problem };
  }

  /** Does what the person asks; the answer is why it was not done. */
  #do(
    command: Exclude<Command, { do: 'connect' }>,
  ): string | undefined | Promise<string | undefined> {
    const { book } = this.#desk;
    switch (command.do) {
      case 'look':
        this.#tab = command.tab;
        return undefined;
      case 'share':
        return this.#desk.house.share(command.project, command.tab, command.level);
      case 'level':
        book.writeGrants(update(book.grants, command.tab, { level: command.level }));
        return undefined;
      case 'unshare':
        book.writeGrants(drop(book.grants, command.tab));
        return undefined;
      case 'may_open':
        book.changePairing(command.project, { mayOpen: command.on });
        return undefined;
      case 'again':
        this.#desk.again(command.project);
        return undefined;
      case 'disconnect':
        this.#desk.disconnect(command.project);
        return undefined;
      default:
        return command satisfies never;
    }
  }

  #connect(code: string): Outcome {
    const connection = readCode(code);
    if ('problem' in connection) return connection;
    const pairing = newPairing(connection.value);
    this.#desk.connect(pairing);
    return { connected: pairing.key };
  }

  async #show(): Promise<void> {
    try {
      this.#port.postMessage(await this.#view());
      delete this.#outcome.connected; // said once
    } catch (cause) {
      tell(this.#port, bareView(this.#desk.book, `Not all can be shown: ${words(cause)}`));
    }
  }

  async #view(): Promise<View> {
    const tab = this.#tab === undefined ? undefined : await find(this.#tab);
    const current =
      tab?.id === undefined
        ? undefined
        : { tab: tab.id, title: tab.title ?? '', url: addressOf(tab) };
    const { book } = this.#desk;
    return viewOf(book, (key) => this.#desk.linkState(key), current, this.#outcome);
  }
}

function tell(port: chrome.runtime.Port, view: View): void {
  try {
    port.postMessage(view);
  } catch {
    // the popup has closed
  }
}

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function isPopup(sender: chrome.runtime.MessageSender | undefined): boolean {
  return sender?.url?.split(/[?#]/)[0] === chrome.runtime.getURL('popup.html');
}

function readCommand(message: unknown): Command | undefined {
  const command = fields(message);
  const tab = number(command, 'tab');
  const project = text(command, 'project');
  const level = readLevel(member(command, 'level'));
  switch (text(command, 'do')) {
    case 'look':
      return tab === undefined ? undefined : { do: 'look', tab };
    case 'connect':
      return { do: 'connect', code: text(command, 'code') ?? '' };
    case 'share':
      return share(tab, project, level);
    case 'level':
      return tab === undefined || !level ? undefined : { do: 'level', tab, level };
    case 'unshare':
      return tab === undefined ? undefined : { do: 'unshare', tab };
    default:
      return project === undefined ? undefined : readProjectCommand(command, project);
  }
}

function readProjectCommand(
  command: ReturnType<typeof fields>,
  project: string,
): Command | undefined {
  switch (text(command, 'do')) {
    case 'may_open':
      return { do: 'may_open', project, on: member(command, 'on') === true };
    case 'again':
      return { do: 'again', project };
    case 'disconnect':
      return { do: 'disconnect', project };
    default:
      return undefined;
  }
}

function share(
  tab: number | undefined,
  project: string | undefined,
  level: Level | undefined,
): Command | undefined {
  if (tab === undefined || project === undefined || level === undefined) return undefined;
  return { do: 'share', tab, project, level };
}
