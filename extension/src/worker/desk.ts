import * as alarms from './alarms.ts';
import { Book } from './book.ts';
import { Casts } from './casts.ts';
import { Closing } from './closing.ts';
import * as port from './debugger.ts';
import { Focus } from './focus.ts';
import { drop, replace, update } from './grants.ts';
import { Groups } from './groups.ts';
import { Guard } from './guard.ts';
import { House } from './house.ts';
import { identify } from './identity.ts';
import type { Line } from './line.ts';
import { Link, type LinkState } from './link.ts';
import type { Pairing } from './pairings.ts';
import { fields, member, text } from './parse.ts';
import { Raw } from './raw.ts';
import { Reach } from './reach.ts';
import { Reception } from './reception.ts';
import { Roads } from './roads.ts';
import { Runs } from './runs.ts';
import { crashRefusal, Seats } from './seats.ts';
import { type Differences, describe, tabsOf } from './standing.ts';
import { type Stored, saveOpenings } from './store.ts';
import * as tabs from './tabs.ts';
import { Views } from './views.ts';
import { Wall } from './wall.ts';
import { Refusal, type ServerMessage } from './wire.ts';

const unshared = new Refusal('tab_closed', 'The tab is not shared any more.');
const lowered = new Refusal('forbidden', 'Less is permitted in this tab now.');

/** A page that leaves is there sooner than this, or Chrome goes on telling of its tab. */
const comesMS = 5000;

/** The worker's middle: what happens in Chrome and what servers ask meet here. */
export class Desk {
  readonly book: Book;
  readonly #links = new Map<string, Link>();
  readonly #seats: Seats;
  readonly #wall: Wall;
  readonly #casts: Casts;
  readonly house: House;
  readonly focus = new Focus(tabs.windows, Date.now);
  readonly views = new Views(tabs.screen, Date.now);
  readonly roads = new Roads(tabs.find);
  readonly #runs: Runs;
  readonly #raw: Raw;
  readonly #closing: Closing;
  readonly #reception: Reception;
  readonly #groups: Groups;
  /** Told after each change of what a popup shows. */
  readonly #watchers = new Set<() => void>();

  constructor(stored: Stored) {
    this.book = new Book(stored, (found) => this.#follow(found));
    this.#groups = new Groups(this.book, tabs.showInGroup);
    const reach = new Reach(this.book, port.send);
    this.#seats = new Seats({
      port: {
        ...port,
        attach: (tab) => port.attach(tab).finally(() => this.#tellWatchers()),
        send: (...command) => {
          this.focus.sending(command[0], command[2], command[3]);
          return reach.send(...command);
        },
        command: (...command) => {
          this.focus.sending(command[0], command[2], command[3]);
          port.command(...command);
        },
      },
      gate: (tab, method, params) => this.#gate(tab, method, params),
      painting: (tab, capture) => this.#casts.painting(tab, capture),
      left: (tab) => {
        this.#casts.paused(tab);
        this.#raw.sleep(tab, 'The tab was let go for a moment.');
        this.#tellWatchers();
      },
      freed: (tab) => void this.#casts.resume(tab),
    });
    this.#wall = new Wall(new Guard(), this.book, {
      openings: stored.openings,
      save: saveOpenings,
    });
    const seats = this.#seats;
    this.#casts = new Casts({
      watch: (tab) => seats.watch(tab),
      send: (...command) => seats.send(...command),
      isSeen: (tab) => this.book.isUsable(tab),
    });
    this.#closing = new Closing(port, tabs.close);
    this.house = new House(this.book, this.#wall, this.#seats, this.#closing);
    this.#runs = new Runs(this.house);
    this.#raw = new Raw({
      book: this.book,
      house: this.house,
      seats: this.#seats,
      sight: { at: (tab) => this.roads.at(tab), frames: tabs.frames },
      leaving: (tab, url) => {
        this.roads.leave(tab); // let go before it is where its grant does not reach
        this.book.see(tab, { url });
        const look = () => tabs.find(tab).then((found) => found && this.tabChanged(found));
        setTimeout(() => void look(), comesMS); // where it came to nothing, Chrome tells nothing more
      },
      targetOf: async (tab) => (await port.targets()).get(tab),
      gate: (tab, method, params) => this.#gate(tab, method, params),
      painting: (tab, capture) => this.#casts.painting(tab, capture),
      keep: (tab) => this.#casts.keep(tab),
      free: (tab) => this.#casts.free(tab),
      stop: (tab, why) => this.#runs.stopTab(tab, why),
      ask: () => chrome.runtime.getPlatformInfo(),
      nowMS: Date.now,
    });
    this.#reception = new Reception({
      book: this.book,
      seats: this.#seats,
      wall: this.#wall,
      casts: this.#casts,
      house: this.house,
      runs: this.#runs,
      raw: this.#raw,
      retarget: () => this.#retarget(),
    });
  }

  /** Takes up what an earlier life of the worker left, and dials. */
  async start(): Promise<void> {
    const left = this.book.grants; // what is shared from now on is told by events alone
    // What an earlier life had under way ended with its links; so does whatever it left in tabs.
    await Promise.all((await port.attached()).map(port.detach));
    await this.#retarget();
    const open = new Map((await tabs.all()).map((tab) => [tab.id, tab]));
    for (const { id, windowId, active } of open.values()) {
      if (active && id !== undefined) this.views.shows(windowId, id);
    }
    this.views.focused(await tabs.focusedWindow());
    for (const { tab } of left) {
      const present = open.get(tab);
      if (present === undefined) this.tabRemoved(tab);
      else {
        this.tabRegrouped(tab, present.groupId);
        this.tabChanged(present);
      }
    }
    this.#wall.begin([...open.keys()].flatMap((id) => id ?? []));
    await this.#wall.sync().catch(() => undefined); // each program asks again, and does not run without
    for (const pairing of this.book.pairings) if (!pairing.refused) this.#dial(pairing);
    this.#keepAwake();
  }

  // ---- what a person does in the popup

  connect(pairing: Pairing): void {
    this.disconnect(pairing.key);
    this.book.writePairings([...this.book.pairings, pairing]);
    this.#dial(pairing);
    this.#keepAwake();
  }

  /** Stops everything of a project at once and forgets it. */
  disconnect(key: string): void {
    this.#stopAll(key);
    this.book.writeGrants(this.book.grants.filter((grant) => grant.pairing !== key));
    this.#links.get(key)?.stop({ t: 'disconnect' });
    this.#links.delete(key);
    this.book.writePairings(this.book.pairings.filter((pairing) => pairing.key !== key));
    this.#keepAwake();
  }

  /** Dials now, because the person asks for it: a refused pairing once more, one that waits without waiting longer. */
  again(key: string): void {
    const pairing = this.book.pairing(key);
    if (pairing === undefined) return;
    if (pairing.refused === undefined) {
      this.#links.get(key)?.start();
      return;
    }
    const { refused: _, ...rest } = pairing;
    this.book.writePairings(this.book.pairings.map((one) => (one === pairing ? rest : one)));
    this.#dial(rest);
    this.#keepAwake();
  }

  /** Shows a project's tabs in its group again, where they can be. */
  regroup(key: string): void {
    for (const { pairing, tab } of this.book.grants) if (pairing === key) this.#groups.show(tab);
  }

  /** The worker was woken for nothing else. */
  woken(): void {
    for (const link of this.#links.values()) link.look();
  }

  /** What goes on just now. */
  readonly live = {
    link: (key: string): LinkState => this.#links.get(key)?.state ?? { is: 'stopped' },
    isAttached: (tab: number) => this.#seats.children(tab) !== undefined,
  };

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  // ---- what happens in Chrome

  tabCreated(tab: chrome.tabs.Tab): void {
    if (tab.id !== undefined) this.#wall.appeared(tab.id);
  }

  /** A page that opens a tab while a program runs in it opens it for the program's session. */
  tabOpened(tab: number, by: number): void {
    this.#wall.opened(tab, by);
    const session = this.#runs.sessionIn(by) ?? this.#raw.sessionIn(by);
    if (session === undefined) return;
    void this.views.opened(tab);
    void this.house.adopt(by, session, tab).then((adopted) => {
      if (adopted !== undefined) this.#runs.adopted(by, describe(adopted));
    });
  }

  tabChanged(tab: chrome.tabs.Tab): void {
    if (tab.id !== undefined && tab.url) this.#wall.met(tab.id); // it has arrived somewhere
    const grant = tab.id === undefined ? undefined : this.book.ofTab(tab.id)?.grant;
    if (grant === undefined || this.roads.isLeaving(tab)) return;
    this.book.see(grant.tab, { url: tabs.addressOf(tab), title: tab.title ?? '' });
    this.#raw.nudge(grant.tab);
  }

  windowFocused(window: number): void {
    this.focus.changed(window);
    this.views.focused(window);
  }

  tabArrived(tab: number): void {
    if (this.roads.ended(tab)) void tabs.find(tab).then((found) => found && this.tabChanged(found));
  }

  /** A tab that is dragged out of its group is unshared. */
  tabRegrouped(tab: number, group: number): void {
    const shown = this.book.ofTab(tab)?.grant.group;
    if (shown !== undefined && shown !== group) this.book.writeGrants(drop(this.book.grants, tab));
  }

  tabReplaced(from: number, to: number): void {
    this.#wall.replaced(from, to);
    this.book.writeGrants(replace(this.book.grants, from, to));
    void this.#retarget();
  }

  tabRemoved(tab: number): void {
    this.#closing.removed(tab);
    this.roads.forget(tab);
    this.#wall.closed(tab);
    this.book.writeGrants(drop(this.book.grants, tab));
  }

  debugged(tab: number, child: string | undefined, method: string, params: unknown): void {
    if (child === undefined && method === 'Page.screencastFrame') this.#casts.framed(tab, params);
    if (child === undefined && method === 'Page.frameNavigated') this.#navigated(tab, params);
    if (child === undefined && method.startsWith('Inspector.')) this.#crashed(tab, method);
    this.#closing.event(tab, method);
    this.#seats.deliver(tab, child, method, params);
    this.#raw.event(tab, child ?? '', method, params);
  }

  detached(tab: number, reason: string): void {
    const why = `Chrome let the tab go (${reason}).`;
    this.#runs.stopTab(tab, new Refusal('tab_suspended', why));
    if (reason === 'canceled_by_user') this.book.writeGrants([]); // Chrome's bar has one Cancel for all tabs
    this.#raw.sleep(tab, why);
    this.#seats.release(tab);
    void this.#casts.resume(tab);
  }

  // ---- what a server asks

  #dial(pairing: Pairing): void {
    const { key } = pairing;
    const identity = identify(this.book.install, chrome.runtime.getManifest().version, navigator);
    const owner = {
      tabs: () => tabsOf(this.book.standings, key),
      changed: (state: LinkState) => this.#linkChanged(key, state),
      paired: (paired: Extract<ServerMessage, { t: 'paired' }>) =>
        this.book.changePairing(key, {
          account: paired.account,
          ceiling: paired.level,
          name: paired.project.name,
        }),
      received: (message: ServerMessage, line: Line) =>
        this.#reception.received(key, message, line),
    };
    const link = new Link(pairing, identity, owner, (address) => new WebSocket(address));
    this.#links.set(key, link);
    link.start();
  }

  #linkChanged(key: string, state: LinkState): void {
    if (state.is !== 'connected') this.#stopAll(key);
    if (state.is === 'refused') {
      this.book.changePairing(key, { refused: state.why });
      this.#keepAwake();
    }
    this.#tellWatchers();
  }

  #stopAll(key: string): void {
    this.#runs.stopAll(key);
    this.#casts.stopAll(key);
    this.#raw.dropAll(key);
  }

  // ---- what follows from a change

  #follow(found: Differences): void {
    for (const grant of found.gone) {
      this.#runs.stopTab(grant.tab, unshared);
      const moved = this.book.ofName(grant.pairing, grant.name)?.grant.tab;
      if (moved === undefined) {
        this.#casts.stopTab(grant.tab);
        this.#raw.dropTab(grant.tab, unshared);
      } else {
        this.#casts.move(grant.tab, moved);
        this.#raw.move(grant.tab, moved);
      }
      this.#seats.release(grant.tab);
      if (grant.group !== undefined) void tabs.leaveGroup(grant.tab, grant.group);
    }
    for (const { tab } of found.lowered) {
      this.#runs.stopTab(tab, lowered);
      this.#raw.dropTab(tab, lowered);
    }
    for (const { tab } of found.asleep) {
      const why = this.book.ofTab(tab)?.suspended ?? 'The tab is asleep.';
      this.#runs.stopTab(tab, new Refusal('tab_suspended', why));
      this.#raw.sleep(tab, why);
      this.#seats.release(tab);
    }
    for (const { tab } of found.awake) {
      void this.#casts.resume(tab);
      this.#raw.nudge(tab);
    }
    this.#raw.reconsider();
    if (found.fresh.length > 0) void this.#retarget();
    for (const { tab } of found.fresh) this.#groups.show(tab);
    for (const key of found.pairings) {
      this.#links.get(key)?.send({ t: 'tabs', tabs: tabsOf(this.book.standings, key) });
    }
    void this.#wall.sync().catch(() => undefined); // each program asks again, and does not run without
    this.#tellWatchers();
  }

  /** Reads the tabs' CDP target ids anew. */
  async #retarget(): Promise<void> {
    const targets = await port.targets().catch(() => undefined);
    for (const { tab } of targets === undefined ? [] : this.book.grants) {
      const target = targets?.get(tab);
      if (target !== undefined) this.book.writeGrants(update(this.book.grants, tab, { target }));
    }
  }

  /** Nothing goes to a page that is not shared, is asleep, or would become Chaperone's own. */
  #gate(tab: number, method: string, params: unknown): void {
    const standing = this.book.ofTab(tab);
    if (standing === undefined) throw new Refusal('tab_closed', 'The tab is not shared any more.');
    if (standing.suspended !== undefined) throw new Refusal('tab_suspended', standing.suspended);
    if (method !== 'Page.navigate') return;
    const problem = this.book.problemAt(standing.grant, text(fields(params), 'url') ?? '');
    if (problem !== undefined) throw new Refusal('forbidden', problem);
  }

  #navigated(tab: number, params: unknown): void {
    const frame = fields(member(fields(params), 'frame'));
    const url = text(frame, 'unreachableUrl') ?? text(frame, 'url'); // an error page stands for its address
    if (url !== undefined && text(frame, 'parentId') === undefined) {
      this.book.see(tab, { url });
    }
  }

  /** A page without a process answers nothing: whoever waits for it is told so. */
  #crashed(tab: number, method: string): void {
    if (method === 'Inspector.targetCrashed') {
      this.#seats.crashed(tab);
      this.#casts.paused(tab);
      this.#raw.crashed(tab);
      this.#runs.stopTab(tab, crashRefusal());
    } else if (method === 'Inspector.targetReloadedAfterCrash') {
      this.#seats.reloaded(tab);
      void this.#casts.resume(tab);
    }
  }

  #tellWatchers(): void {
    for (const changed of this.#watchers) changed();
  }

  #keepAwake(): void {
    void alarms.keep(this.book.pairings.some((pairing) => pairing.refused === undefined));
  }
}
