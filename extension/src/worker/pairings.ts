import { maxLabel, maxSentence, readable } from './bounds.ts';
import type { Connection } from './code.ts';
import { type Level, readLevel } from './grants.ts';
import { type Fields, fields, member, text } from './parse.ts';

/** A server's or the extension's own last word on a link that is not to be dialled again by itself. */
export type Refused = { code: string; message: string };

/** One project this browser is connected to. The token never leaves the worker. */
export type Pairing = Connection & {
  key: string;
  /** Who is connected, as the server last told it; empty until then. */
  account: string;
  /** The policy's ceiling as last told; read until the server says otherwise. */
  ceiling: Level;
  /** Whether agents of this project may open tabs of their own. */
  mayOpen: boolean;
  refused?: Refused;
};

export function newPairing(connection: Connection): Pairing {
  const name = readable(connection.name, maxLabel) || connection.project;
  const key = pairingKey(connection);
  return { ...connection, name, key, account: '', ceiling: 'read', mayOpen: true };
}

/** Reads what was stored; an entry that is not whole is left out. */
export function readPairings(stored: unknown): Pairing[] {
  return Array.isArray(stored) ? stored.flatMap((entry) => readPairing(entry) ?? []) : [];
}

/** Adds a pairing in place of an earlier one with the same project and server. */
export function withPairing(pairings: readonly Pairing[], pairing: Pairing): Pairing[] {
  return [...withoutPairing(pairings, pairing.key), pairing];
}

export function withoutPairing(pairings: readonly Pairing[], key: string): Pairing[] {
  return pairings.filter((pairing) => pairing.key !== key);
}

function pairingKey(connection: Connection): string {
  return `${connection.project} ${connection.server}`;
}

function readPairing(stored: unknown): Pairing | undefined {
  const entry = fields(stored);
  const server = text(entry, 'server');
  const token = text(entry, 'token');
  const project = text(entry, 'project');
  if (!server || !URL.canParse(server) || !token || !project) return undefined;
  const refused = readRefused(fields(member(entry, 'refused')));
  return {
    ...newPairing({ server, token, project, name: text(entry, 'name') ?? project }),
    account: readable(text(entry, 'account') ?? '', maxLabel),
    ceiling: readLevel(member(entry, 'ceiling')) ?? 'read',
    mayOpen: member(entry, 'mayOpen') === true,
    ...(refused === undefined ? {} : { refused }),
  };
}

function readRefused(entry: Fields | undefined): Refused | undefined {
  const code = text(entry, 'code');
  if (code === undefined) return undefined;
  return { code, message: readable(text(entry, 'message') ?? '', maxSentence) };
}
