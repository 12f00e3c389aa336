/** The one file that names chrome.runtime's ports: where the popup is served. */
import { type Command, portName, type View } from '../popup/contract.ts';
import { readCode } from './code.ts';
import type { Desk } from './desk.ts';
import { drop, readLevel, type Share, update } from './grants.ts';
import { newPairing } from './pairings.ts';
import { type Fields, fields, member, number, text } from './parse.ts';
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
        return this.#desk.house.share(command.project, command.tab, command.share);
      case 'new_tab':
        return this.#desk.house.shareNew(command.project, command.share);
      case 'level':
        book.writeGrants(update(book.grants, command.tab, { level: command.level }));
        return undefined;
      case 'unshare':
        book.writeGrants(drop(book.grants, command.tab));
        return undefined;
      case 'may_open':
        book.changePairing(command.project, { mayOpen: command.on });
        return undefined;
      case 'regroup':
        this.#desk.regroup(command.project);
        return undefined;
      case 'again':
        this.#desk.again(command.project);
        return undefined;
      case 'disconnect':
        this.#desk.disconnect(command.project);
        return undefined;
      case 'disconnect_all':
        for (const { key } of book.pairings) this.#desk.disconnect(key);
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
    return viewOf(book, this.#desk.live, current, this.#outcome);
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
  const project = text(command, 'project');
  const tab = number(command, 'tab');
  switch (text(command, 'do')) {
    case 'connect':
      return { do: 'connect', code: text(command, 'code') ?? '' };
    case 'disconnect_all':
      return { do: 'disconnect_all' };
    default:
      return (
        (project === undefined ? undefined : readProjectCommand(command, project)) ??
        (tab === undefined ? undefined : readTabCommand(command, tab))
      );
  }
}

function readProjectCommand(command: Fields | undefined, project: string): Command | undefined {
  const tab = number(command, 'tab');
  const share = readShare(command);
  switch (text(command, 'do')) {
    case 'share':
      return tab === undefined || !share ? undefined : { do: 'share', tab, project, share };
    case 'new_tab':
      return share && { do: 'new_tab', project, share };
    case 'may_open':
      return { do: 'may_open', project, on: member(command, 'on') === true };
    case 'regroup':
      return { do: 'regroup', project };
    case 'again':
      return { do: 'again', project };
    case 'disconnect':
      return { do: 'disconnect', project };
    default:
      return undefined;
  }
}

function readTabCommand(command: Fields | undefined, tab: number): Command | undefined {
  const level = readLevel(member(command, 'level'));
  switch (text(command, 'do')) {
    case 'look':
      return { do: 'look', tab };
    case 'level':
      return level && { do: 'level', tab, level };
    case 'unshare':
      return { do: 'unshare', tab };
    default:
      return undefined;
  }
}

function readShare(command: Fields | undefined): Share | undefined {
  const share = fields(member(command, 'share'));
  const level = readLevel(member(share, 'level'));
  if (level === undefined) return undefined;
  return member(share, 'stays') === true ? { level, stays: true } : { level };
}
