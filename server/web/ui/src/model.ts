/** What the API tells, as the screens use it. */
import type { Counted } from './cdp.ts';
import { fields, list, moment, number, text } from './parse.ts';

export type Project = {
  id: string;
  name: string;
  policy: string;
  backend: string;
  domains: string[];
};

export function project(value: unknown): Project {
  const { id, name, policy, backend, allow_domains } = fields(value);
  return {
    id: text(id),
    name: text(name),
    policy: text(policy),
    backend: text(backend),
    domains: list(allow_domains, text),
  };
}

export type Tab = {
  id: string;
  url: string;
  title: string;
  level: string;
  suspended: string;
  session: string;
  made: boolean;
};

function tab(value: unknown): Tab {
  const { id, url, title, level, suspended, session, made } = fields(value);
  return {
    id: text(id),
    url: text(url),
    title: text(title),
    level: text(level),
    suspended: text(suspended),
    session: text(session),
    made: made === true,
  };
}

export type Pairing = {
  paired: boolean;
  connected: boolean;
  since: Date | undefined;
  browser: string;
  level: string;
  tabs: Tab[];
};

/** A browser's name and version. */
function named(value: unknown): string {
  const { name, version } = fields(value ?? {});
  return `${text(name)} ${text(version)}`.trim();
}

export function pairing(value: unknown): Pairing {
  const { browser, paired, connected, since, level, tabs } = fields(value);
  return {
    paired: paired === true,
    connected: connected === true,
    since: moment(since),
    browser: named(browser),
    level: text(level),
    tabs: list(tabs, tab),
  };
}

export type Session = {
  id: string;
  backend: string;
  policy: string;
  label: string;
  state: string;
  reason: string;
  confinement: string;
  actions: number;
  /** What CDP clients did, and how many are connected. */
  commands: number;
  clients: number;
  created: Date | undefined;
  ended: Date | undefined;
  tabs: Tab[];
};

export function session(value: unknown): Session {
  const {
    id,
    backend,
    policy,
    label,
    state,
    reason,
    confinement,
    actions,
    commands,
    cdp_clients,
    created_at,
    ended_at,
    tabs,
  } = fields(value);
  return {
    id: text(id),
    backend: text(backend),
    policy: text(policy),
    label: text(label),
    state: text(state),
    reason: text(reason),
    confinement: text(confinement),
    actions: number(actions),
    commands: number(commands),
    clients: number(cdp_clients),
    created: moment(created_at),
    ended: moment(ended_at),
    tabs: list(tabs, tab),
  };
}

export function lives(s: Session): boolean {
  return s.state === 'idle' || s.state === 'starting' || s.state === 'active';
}

export type Happening = {
  seq: number;
  time: Date | undefined;
  kind: string;
  session: string;
  about: Happened;
};

/** What an event's own fields say; which are set depends on its kind. */
export type Happened = {
  action: string;
  outcome: string;
  message: string;
  url: string;
  title: string;
  ref: string;
  role: string;
  name: string;
  direction: string;
  reason: string;
  elapsed: number;
  ledger: number;
  /** Of CDP clients: how they stand, and what they did in the span. */
  state: string;
  clients: number;
  commands: number;
  writes: number;
  refused: number;
  methods: Counted[];
  hosts: string[];
};

export function happening(value: unknown): Happening {
  const { seq, time, kind, session, fields: about } = fields(value);
  return {
    seq: number(seq),
    time: moment(time),
    kind: text(kind),
    session: text(session),
    about: happened(about ?? {}),
  };
}

function happened(value: unknown): Happened {
  const about = fields(value);
  const { action, outcome, message, url, title, ref, role, name, direction, reason } = about;
  const { elapsed_ms, ledger, state, clients, commands, writes, refused, methods, hosts } = about;
  return {
    action: text(action),
    outcome: text(outcome),
    message: text(message),
    url: text(url),
    title: text(title),
    ref: text(ref),
    role: text(role),
    name: text(name),
    direction: text(direction),
    reason: text(reason),
    elapsed: number(elapsed_ms),
    ledger: number(ledger),
    state: text(state),
    clients: number(clients),
    commands: number(commands),
    writes: number(writes),
    refused: number(refused),
    methods: Object.entries(fields(methods ?? {})).map(([method, n]) => ({
      name: method,
      count: number(n),
    })),
    hosts: list(hosts, text),
  };
}

export type Picture = { tab: string; jpeg: string; width: number; height: number };

export function picture(value: unknown): Picture {
  const { tab: of, jpeg, width, height } = fields(value);
  return { tab: text(of), jpeg: text(jpeg), width: number(width), height: number(height) };
}

export type Row = {
  seq: number;
  time: Date | undefined;
  actor: string;
  actorId: string;
  kind: string;
  method: string;
  peer: string;
  outcome: string;
  session: string;
  hash: string;
  detail: Record<string, string>;
};

export function row(value: unknown): Row {
  const about = fields(value);
  const { seq, time, actor_kind, actor, kind, method, peer, outcome, session, hash, detail } =
    about;
  return {
    seq: number(seq),
    time: moment(time),
    actor: text(actor_kind),
    actorId: text(actor),
    kind: text(kind),
    method: text(method),
    peer: text(peer),
    outcome: text(outcome),
    session: text(session),
    hash: text(hash),
    detail: words(text(detail)),
  };
}

/** Words by name, from JSON; nothing where there is none. */
function words(json: string): Record<string, string> {
  const all = json === '' ? {} : fields(JSON.parse(json));
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, text(value)]));
}

export type BadRow = { seq: number; class: string; why: string };

export type Report = { rows: number; hash: string; bad: BadRow | undefined };

export function report(value: unknown): Report {
  const { rows, hash, bad } = fields(value);
  return {
    rows: number(rows),
    hash: text(hash),
    bad: bad === null || bad === undefined ? undefined : badRow(bad),
  };
}

function badRow(value: unknown): BadRow {
  const { seq, class: kind, why } = fields(value);
  return { seq: number(seq), class: text(kind), why: text(why) };
}

export type Part<T> = { items: T[]; next: string };

export function part<T>(of: (item: unknown) => T): (value: unknown) => Part<T> {
  return (value) => {
    const { items, next } = fields(value);
    return { items: list(items, of), next: text(next) };
  };
}
