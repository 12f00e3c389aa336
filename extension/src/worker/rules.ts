/**
 * The rules that keep read-only tabs read-only in the browser itself: no document request of such a tab that would
 * change something leaves it, and none of a page it opens while an agent works in it.
 */
import type { Grant } from './grants.ts';

export type Rule = chrome.declarativeNetRequest.Rule;

const writes = ['post', 'put', 'patch', 'delete'];
const documents = ['main_frame', 'sub_frame', 'ping'];

/** The standing rule of a read-only tab. */
export function tabRule(grant: Grant): Rule {
  return block(ruleID(grant, 0), { tabIds: [grant.tab], resourceTypes: documents });
}

/**
 * The rule while an agent works in a read-only tab: it holds for every tab that was not open before, so that a
 * page's new window is held from its first request on.
 */
export function openingRule(grant: Grant, present: readonly number[]): Rule {
  return block(ruleID(grant, 1), { excludedTabIds: [...present], resourceTypes: ['main_frame'] });
}

/** Grants' names are numbered and never used twice, so rule ids made of them never collide. */
function ruleID(grant: Grant, kind: 0 | 1): number {
  return Number(grant.name.slice(1)) * 2 + kind;
}

function block(
  id: number,
  condition: { tabIds?: number[]; excludedTabIds?: number[]; resourceTypes: string[] },
): Rule {
  // The types of @types/chrome are enums in name; their values are these strings.
  return {
    id,
    action: { type: 'block' },
    condition: { ...condition, requestMethods: writes },
  } as Rule;
}
