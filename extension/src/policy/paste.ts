import { refuseHuge } from './bounds.ts';

const KEY_INSERT = 45;
const KEY_V = 86;
/** Meta too. */
const CTRL = 2 | 4;
const SHIFT = 8;

/**
 * What is wrong with the parameters together, each of which a rule permits; nothing when empty. In a shared tab a key that
 * pastes would take what the person copied anywhere, and a script of the page could read it.
 */
export function refuseTogether(not: string, given: Record<string, unknown>): string {
  if (not === 'huge') return refuseHuge(given);
  return not === 'paste' && pastes(given) ? 'a key that pastes is not permitted' : '';
}

/** Would a key event paste, or may it? What is only filled in later cannot be told. */
function pastes(given: Record<string, unknown>): boolean {
  const { key, code, windowsVirtualKeyCode: number = 0, modifiers = 0 } = given;
  for (const word of [key, code]) {
    if (word !== undefined && (typeof word !== 'string' || word === 'Paste')) return true;
  }
  if (!Number.isInteger(number) || !Number.isInteger(modifiers)) return true;
  if (number === KEY_V) return (Number(modifiers) & CTRL) !== 0;
  return number === KEY_INSERT && (Number(modifiers) & SHIFT) !== 0;
}
