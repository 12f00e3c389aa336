import type { Identity } from './link.ts';
import { fields, member, text } from './parse.ts';

/** What this browser is called, from what it tells any page. */
export function identify(install: string, extension: string, navigator: object): Identity {
  return { install, extension, browser: browserOf(navigator) };
}

function browserOf(navigator: object): { name: string; version: string } {
  const data = fields('userAgentData' in navigator ? navigator.userAgentData : undefined);
  const brands = list(member(data, 'brands')).map((brand) => ({
    name: text(fields(brand), 'brand') ?? '',
    version: text(fields(brand), 'version') ?? '',
  }));
  const named = brands.find(({ name }) => name !== 'Chromium' && !/not.*brand/i.test(name));
  return (
    named ?? brands.find(({ name }) => name === 'Chromium') ?? { name: 'Chromium', version: '0' }
  );
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
