import {
  isLonger,
  isName,
  maxLabel,
  maxReceivedBytes,
  maxReceivedHeaderBytes,
  maxSentence,
  readable,
} from './bounds.ts';
import { type Level, readLevel } from './grants.ts';
import { type Fields, fields, json, member, number, text } from './parse.ts';

/** A tab as the server sees it (relay/program: Tab). */
export type Tab = {
  id: string;
  /** The CDP target id of its page, where known. */
  target?: string;
  url: string;
  title: string;
  level: Level;
  suspended?: string;
  session?: string;
  made?: true;
  opener?: string;
};

export type CastOptions = {
  tab: string;
  maxWidth: number;
  maxHeight: number;
  quality: number;
  fps: number;
};

/** What the server sends, parsed once. `bad` is a request of a known kind that cannot be read. */
export type ServerMessage =
  | { t: 'challenge'; nonce: string; mac: string }
  | {
      t: 'paired';
      project: { id: string; name: string };
      account: string;
      level: Level;
      server: string;
      heartbeatMS: number;
    }
  | { t: 'refused'; code: string; message: string; retry: boolean }
  | { t: 'program'; id: number; session: string; body: string }
  | { t: 'cast'; id: number; session: string; options: CastOptions }
  | { t: 'cancel'; id: number }
  | { t: 'hold'; id: number; session: string; tab: string }
  | { t: 'drop'; session: string; tab: string }
  | ({ t: 'cdp' } & Command)
  | { t: 'new'; id: number; session: string }
  | { t: 'shut'; id: number; session: string; tab: string }
  | { t: 'end'; id?: number; session: string }
  | { t: 'level'; level: Level }
  | { t: 'pong' }
  | { t: 'bad'; id: number };

/** One command of a CDP client; `child` is a target session below the tab's page. */
export type Command = {
  id: number;
  session: string;
  tab: string;
  child?: string;
  method: string;
  body: string;
};

/** What the extension sends besides the opening. */
export type Header =
  | { t: 'ping' }
  | { t: 'tabs'; tabs: Tab[] }
  | { t: 'result'; id: number }
  | { t: 'error'; id: number; code: ErrorCode; message: string }
  | { t: 'picture'; id: number; at_ms: number; width: number; height: number }
  | { t: 'done'; id: number }
  | { t: 'held'; id?: number; tab: string; target: string }
  | { t: 'reply'; id: number; error?: CallFailure }
  | { t: 'event'; tab: string; child?: string; method: string }
  | { t: 'asleep'; tab: string; code: 'tab_suspended'; message: string }
  | { t: 'made'; id: number; tab: string }
  | { t: 'disconnect' };

/** Chrome's own refusal of a command. */
export type CallFailure = { code: number; message: string };

export type ErrorCode = 'tab_closed' | 'tab_suspended' | 'forbidden' | 'too_large' | 'bad_request';

/** A request that cannot be run at all, told to the server by an `error` frame. */
export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function frame(header: object, body?: string): string {
  return body === undefined ? JSON.stringify(header) : `${JSON.stringify(header)}\n${body}`;
}

/** Whether a server's message is over its bounds. */
export function isOversized(message: string): boolean {
  const end = message.indexOf('\n');
  const line = end < 0 ? message : message.slice(0, end);
  return isLonger(line, maxReceivedHeaderBytes) || isLonger(message, maxReceivedBytes);
}

/** Parses one message of the server; `undefined` is one of a kind the extension does not know. */
export function readMessage(message: string): ServerMessage | undefined {
  const end = message.indexOf('\n');
  const header = fields(json(end < 0 ? message : message.slice(0, end)));
  const kind = text(header, 't');
  if (header === undefined || kind === undefined || !Object.hasOwn(readers, kind)) return undefined;
  const parsed = readers[kind]?.(header, end < 0 ? '' : message.slice(end + 1));
  if (parsed !== undefined) return parsed;
  const id = number(header, 'id');
  return id === undefined ? undefined : { t: 'bad', id };
}

type Reader = (header: Fields, body: string) => ServerMessage | undefined;

const readers: Readonly<Record<string, Reader>> = {
  challenge: readChallenge,
  paired: readPaired,
  refused: readRefused,
  program: readProgram,
  cast: readCast,
  cancel: (header) => withID(header, (id) => ({ t: 'cancel', id })),
  end: readEnd,
  hold: (header) => withTab(header, (session, tab, id) => ({ t: 'hold', id, session, tab })),
  drop: readDrop,
  cdp: readCommand,
  new: readNew,
  shut: (header) => withTab(header, (session, tab, id) => ({ t: 'shut', id, session, tab })),
  level: (header) => {
    const level = readLevel(member(header, 'level'));
    return level && { t: 'level', level };
  },
  pong: () => ({ t: 'pong' }),
};

function readChallenge(header: Fields): ServerMessage | undefined {
  const nonce = text(header, 'nonce');
  const mac = text(header, 'mac');
  return nonce && mac ? { t: 'challenge', nonce, mac } : undefined;
}

function readPaired(header: Fields): ServerMessage | undefined {
  const project = fields(member(header, 'project'));
  const id = text(project, 'id');
  const level = readLevel(member(header, 'level'));
  if (!id || !level) return undefined;
  return {
    t: 'paired',
    project: { id, name: readable(text(project, 'name') ?? '', maxLabel) || id },
    account: readable(text(header, 'account') ?? '', maxLabel),
    level,
    server: readable(text(header, 'server') ?? '', maxLabel),
    heartbeatMS: between(number(header, 'heartbeat_s'), 1, 20, 20) * 1000,
  };
}

function readRefused(header: Fields): ServerMessage {
  return {
    t: 'refused',
    code: readable(text(header, 'code') ?? 'forbidden', maxLabel),
    message:
      readable(text(header, 'message') ?? '', maxSentence) || 'The server refused this browser.',
    retry: member(header, 'retry') === true,
  };
}

function readProgram(header: Fields, body: string): ServerMessage | undefined {
  const session = readSession(header);
  return session ? withID(header, (id) => ({ t: 'program', id, session, body })) : undefined;
}

function readCast(header: Fields): ServerMessage | undefined {
  const session = readSession(header);
  const options = fields(member(header, 'options'));
  const tab = text(options, 'tab');
  if (!session || !tab) return undefined;
  return withID(header, (id) => ({
    t: 'cast',
    id,
    session,
    options: {
      tab,
      maxWidth: between(number(options, 'max_width'), 16, 4096, 1280),
      maxHeight: between(number(options, 'max_height'), 16, 4096, 720),
      quality: between(number(options, 'quality'), 1, 100, 60),
      fps: between(number(options, 'fps'), 1, 30, 4),
    },
  }));
}

function readEnd(header: Fields): ServerMessage | undefined {
  const session = readSession(header);
  if (!session) return undefined;
  const id = number(header, 'id');
  return id === undefined ? { t: 'end', session } : { t: 'end', session, id };
}

function readDrop(header: Fields): ServerMessage | undefined {
  const session = readSession(header);
  const tab = text(header, 'tab');
  return session && tab ? { t: 'drop', session, tab } : undefined;
}

function readCommand(header: Fields, body: string): ServerMessage | undefined {
  const method = text(header, 'method');
  const child = text(header, 'child') || undefined;
  if (!method) return undefined;
  return withTab(header, (session, tab, id) => {
    const command = { t: 'cdp', id, session, tab, method, body } as const;
    return child === undefined ? command : { ...command, child };
  });
}

function readNew(header: Fields): ServerMessage | undefined {
  const session = readSession(header);
  return session ? withID(header, (id) => ({ t: 'new', id, session })) : undefined;
}

function withTab(
  header: Fields,
  make: (session: string, tab: string, id: number) => ServerMessage,
): ServerMessage | undefined {
  const session = readSession(header);
  const tab = text(header, 'tab');
  return session && tab ? withID(header, (id) => make(session, tab, id)) : undefined;
}

function readSession(header: Fields): string | undefined {
  const session = text(header, 'session');
  return session !== undefined && isName(session) ? session : undefined;
}

function withID(header: Fields, make: (id: number) => ServerMessage): ServerMessage | undefined {
  const id = number(header, 'id');
  return id === undefined ? undefined : make(id);
}

function between(
  value: number | undefined,
  least: number,
  most: number,
  otherwise: number,
): number {
  return value === undefined || value === 0
    ? otherwise
    : Math.min(most, Math.max(least, Math.round(value)));
}
