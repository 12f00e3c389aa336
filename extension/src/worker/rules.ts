/**
 * The rules that keep read-only tabs read-only in the browser itself: no document request of such a tab, or of a window
 * it opened, leaves that would change something.
 */

export type Rule = chrome.declarativeNetRequest.Rule;

/** The rule of the tabs that are read-only. */
export function tabRule(tabs: Iterable<number>): Rule | undefined {
  const tabIds = inOrder(tabs);
  return tabIds.length === 0 ? undefined : block(1, { tabIds });
}

/** The rule of all tabs but those whose opener is known: a page's new window is held from its first request on. */
export function openingRule(known: Iterable<number>): Rule {
  const excludedTabIds = inOrder(known);
  return block(2, excludedTabIds.length === 0 ? {} : { excludedTabIds });
}

/** Chrome takes no empty list of tabs. */
function block(id: number, tabs: { tabIds?: number[]; excludedTabIds?: number[] }): Rule {
  // The types of @types/chrome are enums in name; their values are these strings.
  return {
    id,
    action: { type: 'block' },
    condition: {
      ...tabs,
      resourceTypes: ['main_frame', 'sub_frame', 'object', 'ping'], // an object's or embed's page is of a type of its own
      requestMethods: ['post', 'put', 'patch', 'delete'],
    },
  } as Rule;
}

function inOrder(tabs: Iterable<number>): number[] {
  return [...tabs].sort((one, other) => one - other);
}
