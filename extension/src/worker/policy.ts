/** What the one method table says of CDP clients' commands and of what their tabs tell. */
import { isObject } from '../policy/json.ts';
import { judgeCall } from '../policy/table.ts';
import type { Level } from './grants.ts';

/** Why a command is refused; empty where it is not. */
export function refusalOf(level: Level, method: string, params: object): string {
  const { reason, located } = judgeCall(level, method, params);
  if (reason !== '') return reason;
  return located.length > 0 ? `${method} takes no place that was not located.` : '';
}

/** Whether clients are told of an event. */
export function isTold(_level: Level, _method: string): boolean {
  return true;
}

/** An event or a reply without cookies and credentials. */
export function stripped(_method: string, told: unknown): unknown {
  return isObject(told) ? told : {};
}
