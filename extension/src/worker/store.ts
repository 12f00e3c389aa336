/** The one file that names chrome.storage. */
import { type Grant, type Grants, readLevel } from './grants.ts';
import { type Pairing, readPairings } from './pairings.ts';
import { type Fields, fields, member, number, text } from './parse.ts';

/** What outlives a stop of the worker: pairings and names on disk, grants only until the browser ends. */
export type Stored = { install: string; nextTab: number; pairings: Pairing[]; grants: Grants };

export async function load(): Promise<Stored> {
  await chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
  const local: Fields = await chrome.storage.local.get(['install', 'nextTab', 'pairings']);
  const session: Fields = await chrome.storage.session.get('grants');
  const stored = {
    install: text(local, 'install') ?? crypto.randomUUID(),
    nextTab: number(local, 'nextTab') ?? 1,
    pairings: readPairings(member(local, 'pairings')),
    grants: readGrants(member(session, 'grants')),
  };
  await chrome.storage.local.set({ install: stored.install });
  return stored;
}

export function saveNextTab(nextTab: number): Promise<void> {
  return chrome.storage.local.set({ nextTab });
}

export function savePairings(pairings: readonly Pairing[]): Promise<void> {
  return chrome.storage.local.set({ pairings });
}

export function saveGrants(grants: Grants): Promise<void> {
  return chrome.storage.session.set({ grants });
}

function readGrants(stored: unknown): Grants {
  return Array.isArray(stored) ? stored.flatMap((entry) => readGrant(fields(entry)) ?? []) : [];
}

function readGrant(entry: Fields | undefined): Grant | undefined {
  const name = text(entry, 'name');
  const tab = number(entry, 'tab');
  const pairing = text(entry, 'pairing');
  const level = readLevel(member(entry, 'level'));
  if (!name || tab === undefined || !pairing || !level) return undefined;
  const session = text(entry, 'session');
  const opener = text(entry, 'opener');
  const group = number(entry, 'group');
  return {
    name,
    tab,
    pairing,
    level,
    url: text(entry, 'url') ?? '',
    title: text(entry, 'title') ?? '',
    ...(session === undefined ? {} : { session }),
    ...(member(entry, 'made') === true ? { made: true } : {}),
    ...(opener === undefined ? {} : { opener }),
    ...(group === undefined ? {} : { group }),
  };
}
