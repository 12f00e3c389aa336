import { isObject } from './json.ts';

/**
 * The node that a command names by a number of its renderer process. Chrome does not hold such numbers against the tab:
 * another tab that shares the process could be read with them. DOM.resolveNode alone refuses nodes of other pages, and
 * only while it names no context, so the edge makes an object of the node first and sends that instead.
 */
export function looseNode(method: string, params: unknown): number | undefined {
  if (method === 'DOM.resolveNode' || !isObject(params)) return undefined;
  const { backendNodeId } = params;
  return typeof backendNodeId === 'number' ? backendNodeId : undefined;
}

/** The command's params with the object in place of the number. */
export function withObject(params: object, objectId: string): object {
  const { backendNodeId: _, ...rest } = { backendNodeId: 0, ...params };
  return { ...rest, objectId };
}
