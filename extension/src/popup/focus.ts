import { rowsOf } from './page.ts';

const controls = 'button, a[href], input, textarea';

/** Draws, and where that takes away what had the focus, gives it to what stands there now. */
export function keepFocus(draw: () => void): void {
  const focused = document.activeElement;
  const section = focused?.closest('section, footer') ?? undefined;
  const list = focused?.closest<HTMLElement>('#tabs') ?? undefined;
  const index = rowsOf(list ?? document.body).findIndex((row) => row.contains(focused));
  draw();
  if (focused === null || focused === document.body || isThere(focused)) return;
  const row = list === undefined ? undefined : (rowsOf(list)[index] ?? rowsOf(list).at(-1));
  const next = [row?.querySelector('[data-stop]'), ...(section?.querySelectorAll(controls) ?? [])];
  const headings = [section?.querySelector('[tabindex="-1"]'), document.querySelector('h1')];
  const there = [...next, ...headings].flatMap((one) => (one && isThere(one) ? [one] : []));
  if (there[0] instanceof HTMLElement) there[0].focus();
}

function isThere(one: Element): boolean {
  return one.isConnected && one.getClientRects().length > 0 && !one.matches(':disabled');
}
