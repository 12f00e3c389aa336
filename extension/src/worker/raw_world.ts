import type { Book } from './book.ts';
import { Children } from './children.ts';
import type { Level } from './grants.ts';
import type { Order } from './holds.ts';
import type { House } from './house.ts';
import { Raw } from './raw.ts';
import type { Answered, Seats } from './seats.ts';
import { type Header, Refusal } from './wire.ts';

type Sent = { child: string; method: string; params: object; done: Answered };

type SeatCommand = [child: string | undefined, method: string, params: object, done: Answered];

type World = {
  now: number;
  level: Level;
  seen: boolean;
  mayOpen: boolean;
  stays?: string;
  left: string[];
  children: Children;
  /** The page’s own frame, as the page tells it. */
  root: string;
};

function newWorld(level: Level): World {
  const children = new Children();
  return { now: 0, level, seen: true, mayOpen: true, left: [], children, root: 'T1' };
}

/** A context of the page as Chrome tells of it. */
export function contextOf(id: number, more: object = {}): object {
  const auxData = { isDefault: true, frameId: 'T1' };
  return { context: { id, uniqueId: `U${id}`, origin: 'http://a', name: '', auxData, ...more } };
}

/** The frames of a page that has one below its own. */
function treeOf(id: string): object {
  const below = { frame: { id: 'F1', parentId: id, url: 'http://b/frame' } };
  return { frameTree: { frame: { id, url: 'http://a/' }, childFrames: [below] } };
}

const isOff = (stays: string | undefined, url: string) =>
  stays !== undefined && !url.startsWith(`http://${stays}/`);
const isOwn = (url: string) => url.includes(':7788');

/** A raw road to tab 1, held as t1 for session s; Chrome answers what a test lets it. */
export async function begin(level: Level = 'act') {
  const world = newWorld(level);
  const sent: Sent[] = [];
  const said: (Header & { body?: string })[] = [];
  const line = {
    backlog: 0,
    send: (header: Header, body?: string) =>
      said.push(body === undefined ? header : { ...header, body }),
  };
  const grant = { tab: 1, name: 't1', session: 's' };
  const standing = () => ({ grant: { ...grant, stays: world.stays }, level: world.level });
  const seats = {
    takeFresh: () => Promise.resolve(() => undefined),
    children: () => world.children,
    isCrashed: () => false,
    spoil: () => undefined,
    command: (_: number, ...[child, method, params, done]: SeatCommand) => {
      sent.push({ child: child ?? '', method, params, done });
      if (method === 'Fetch.enable' || method === 'Page.getNavigationHistory') done({});
      if (method === 'Page.getFrameTree' && child === undefined) done(treeOf(world.root));
    },
    release: (tab: number) => world.left.push(`release ${tab}`),
  };
  const raw = new Raw({
    book: {
      ownHosts: ['localhost:7788'],
      ofName: standing,
      ofTab: standing,
      pairing: () => ({ mayOpen: world.mayOpen }),
      isAway: (_: object, url: string) => isOwn(url) || isOff(world.stays, url),
      isOwn,
      problemAt: (_: object, url: string) => (isOwn(url) ? 'not here' : undefined),
    } as unknown as Book,
    house: {
      claim: standing,
      usable: standing,
      prepare: () => Promise.resolve(),
      raise: () => Promise.resolve(() => undefined),
    } as unknown as House,
    seats: seats as unknown as Seats,
    sight: { at: () => Promise.resolve('http://a/'), frames: () => Promise.resolve([]) },
    leaving: (_, url) => world.left.push(url),
    targetOf: () => Promise.resolve('T1'),
    gate: () => {
      if (!world.seen) throw new Refusal('tab_suspended', 'not to be seen');
    },
    painting: (_, capture) => capture(),
    keep: () => undefined,
    free: () => undefined,
    stop: () => undefined,
    ask: () => Promise.resolve(),
    nowMS: () => world.now,
  });
  await raw.hold({ key: 'k', session: 's', line, id: 1, tab: 't1' });
  raw.event(1, '', 'Runtime.executionContextCreated', contextOf(1));
  sent.length = 0;
  said.length = 0;
  const command = (method: string, params: object = {}, more: Partial<Order> = {}) =>
    raw.command({
      key: 'k',
      line,
      id: 2,
      session: 's',
      tab: 't1',
      method,
      body: JSON.stringify(params),
      ...more,
    });
  return { raw, world, sent, said, command };
}
