/** A document that a script has opened anew is in the script's hands, and may never be closed. */
export function isParsing(): boolean {
  const [entry] = performance.getEntriesByType('navigation');
  const isReopened = entry instanceof PerformanceNavigationTiming && entry.domInteractive > 0;
  return document.readyState === 'loading' && !isReopened;
}
