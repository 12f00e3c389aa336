/** The one file that names chrome.storage. */
import { held } from './bounds.ts';
import { type Grant, type Grants, readLevel } from './grants.ts';
import type { Opening, Openings } from './openings.ts';
import { type Pairing, readPairings } from './pairings.ts';
import { type Fields, fields, member, number, text } from './parse.ts';

/** What outlives a stop of the worker: pairings and names on disk, what is about tabs only until the browser ends. */
export type Stored = {
  install: string;
  nextTab: number;
  pairings: Pairing[];
  grants: Grants;
  openings: Openings;
};

export async function load(): Promise<Stored> {
  await chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
  const local: Fields = await chrome.storage.local.get(['install', 'nextTab', 'pairings']);
  const session: Fields = await chrome.storage.session.get(['grants', 'openings']);
  const stored = {
    install: text(local, 'install') ?? crypto.randomUUID(),
    nextTab: number(local, 'nextTab') ?? 1,
    pairings: readPairings(member(local, 'pairings')),
    grants: held(readGrants(member(session, 'grants'))),
    openings: readOpenings(member(session, 'openings')),
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

export function saveOpenings(openings: Openings): Promise<void> {
  return chrome.storage.session.set({ openings });
}

/** Leaves nothing of what was kept: what could not be written anew must not come back as it was. */
export async function forgetGrants(): Promise<void> {
  await chrome.storage.session.remove('grants').catch(() => chrome.storage.session.clear());
}

/** As forgetGrants; the names of tabs stay. */
export async function forgetPairings(): Promise<void> {
  await chrome.storage.local.remove('pairings');
}

function readGrants(stored: unknown): Grants {
  return Array.isArray(stored) ? stored.flatMap((entry) => readGrant(fields(entry)) ?? []) : [];
}

function readOpenings(stored: unknown): Openings {
  return Array.isArray(stored) ? stored.flatMap((entry) => readOpening(fields(entry)) ?? []) : [];
}

function readOpening(entry: Fields | undefined): Opening | undefined {
  const tab = number(entry, 'tab');
  const by = number(entry, 'by');
  if (tab === undefined) return undefined;
  return by === undefined ? { tab } : { tab, by };
}

function readGrant(entry: Fields | undefined): Grant | undefined {
  const name = text(entry, 'name');
  const tab = number(entry, 'tab');
  const pairing = text(entry, 'pairing');
  const level = readLevel(member(entry, 'level'));
  if (!name || tab === undefined || !pairing || !level) return undefined;
  const session = text(entry, 'session');
  const stays = text(entry, 'stays');
  const opener = text(entry, 'opener');
  const group = number(entry, 'group');
  return {
    name,
    tab,
    pairing,
    level,
    url: text(entry, 'url') ?? '',
    title: text(entry, 'title') ?? '',
    ...(stays === undefined ? {} : { stays }),
    ...(session === undefined ? {} : { session }),
    ...(member(entry, 'made') === true ? { made: true } : {}),
    ...(opener === undefined ? {} : { opener }),
    ...(group === undefined ? {} : { group }),
  };
}
