/** How things are said to a person. */
import { counted, many, named, whyClosed } from './cdp.ts';
import type { Happened, Happening, Session } from './model.ts';

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const dated = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

/** A server's words as a sentence: they are lower case and end without a stop. */
export function sentence(words: string): string {
  const begun = words.charAt(0).toUpperCase() + words.slice(1);
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

export function time(date: Date | undefined): string {
  return date ? clock.format(date) : '';
}

export function day(date: Date | undefined): string {
  return date ? dated.format(date) : '';
}

/** To the second, for what is to be proved. */
export function exactly(date: Date | undefined): string {
  return date ? exact.format(date) : '';
}

/** The host of an address, or the address where it has none. */
export function host(url: string): string {
  try {
    return new URL(url).host || url;
  } catch {
    return url;
  }
}

export function policy(name: string): string {
  return name === 'interactive' ? 'may act' : 'read-only';
}

export function backend(name: string): string {
  return name === 'shared' ? 'your browser' : name === 'managed' ? 'managed browser' : name;
}

export function name(s: Session): string {
  return s.label || `Session ${s.id.slice(-6)}`;
}

const verbs: Readonly<Record<string, string>> = {
  open: 'Opened',
  snapshot: 'Looked at the page',
  click: 'Clicked',
  scroll: 'Scrolled',
  get_text: 'Read the text',
  back: 'Went back',
  forward: 'Went forward',
  wait: 'Waited',
  tabs: 'Listed the tabs',
  select_tab: 'Changed the tab',
  screenshot: 'Took a picture',
  status: 'Asked for the status',
  fill: 'Filled in',
  type: 'Typed',
  press: 'Pressed keys',
  select: 'Chose',
  check: 'Checked',
  uncheck: 'Unchecked',
  hover: 'Pointed at',
  drag: 'Dragged',
  dialog: 'Answered a dialog',
  new_tab: 'Opened a tab',
  close_tab: 'Closed a tab',
  eval: 'Ran script',
  upload: 'Gave files to the page',
  download: 'Downloaded',
};

const kinds: Readonly<Record<string, string>> = {
  'session.opened': 'Session opened',
  'session.closed': 'Session ended',
  'browser.snapshot.saved': 'Picture kept',
  'egress.refused': 'Requests refused',
  'tab.shared': 'Tab shared',
  'tab.unshared': 'Tab no longer shared',
  'link.connected': 'Browser connected',
  'link.lost': 'Browser disconnected',
};

/** What happened, in few words. */
export function what(e: Happening): string {
  if (e.kind === 'browser.cdp') {
    return cdp(e.about);
  }
  if (e.kind !== 'browser.action') {
    return kinds[e.kind] ?? e.kind;
  }
  return verbs[e.about.action] ?? e.about.action;
}

/** To what it happened. */
export function target(e: Happening): string {
  if (e.kind === 'browser.cdp') {
    return e.about.state === 'closed' ? whyClosed(e.about.reason) : e.about.hosts.join(', ');
  }
  const { role, name: called, ref, direction, reason } = e.about;
  const element = called ? `${role} “${called}”` : ref;
  return element || direction || reason;
}

/** What there is to say besides. */
export function more(e: Happening): string {
  return e.about.message || e.about.title || host(e.about.url) || named(e.about);
}

function cdp(about: Happened): string {
  if (about.state === 'opened') {
    return 'Endpoint for CDP clients opened';
  }
  if (about.state === 'closed') {
    return 'Endpoint for CDP clients ended:';
  }
  if (about.commands > 0) {
    return `CDP clients: ${counted(about)}${about.hosts.length > 0 ? ' on' : ''}`;
  }
  return about.clients === 0 ? 'No CDP client is connected now' : `${connected(about.clients)} now`;
}

export function connected(clients: number): string {
  return `${many(clients, 'CDP client')} connected`;
}

/** How much was done in a session. */
export function done({ actions, commands }: Session): string {
  const words = [
    actions > 0 || commands === 0 ? many(actions, 'action') : '',
    commands > 0 ? many(commands, 'CDP command') : '',
  ];
  return words.filter((w) => w !== '').join(', ');
}
