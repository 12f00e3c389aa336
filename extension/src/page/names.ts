import { computeAccessibleName } from 'dom-accessibility-api';
import { cut, LONGEST_NAME } from './bounds.ts';
import { isA, isHTML, own, tagOf } from './dom.ts';
import { fold } from './flat.ts';
import { isNamedByContent } from './roles.ts';
import { drawnTitle, labelText, listed, ownText, referencedText, spokenText } from './spoken.ts';

export { textOf } from './spoken.ts';

/**
 * The element's name by accname, folded and cut to a length a line can bear. Nothing typed into a password field is
 * ever part of a name. What is named by what stands in it, and every label, is read in the flat tree (spoken.ts);
 * dom-accessibility-api names the rest.
 */
export function nameOf(el: Element, role: string): string {
  return cut(
    fold(given(el) || native(el) || byContent(el, role) || otherwise(el, role)),
    LONGEST_NAME,
  );
}

/** By the page's own word: aria-labelledby, aria-label. */
function given(el: Element): string {
  return referencedText(el) || fold(own(el).getAttribute('aria-label') ?? '');
}

const LABELLED = new Set('button input meter output progress select textarea'.split(' '));

/** By the rules of HTML for elements of its own. */
function native(el: Element): string {
  const tag = tagOf(el);
  if (isA(el, 'input')) return ofInput(el);
  if (tag === 'img' || tag === 'area') return own(el).getAttribute('alt') ?? '';
  if (!isHTML(el)) return drawnTitle(el);
  return LABELLED.has(tag) || tag.includes('-') ? labelText(el) : '';
}

const SAID_BY_VALUE = new Map([
  ['submit', 'Submit'],
  ['reset', 'Reset'],
  ['button', ''],
]);

function ofInput(input: HTMLInputElement): string {
  const label = labelText(input);
  if (label !== '') return label;
  const otherwise = SAID_BY_VALUE.get(input.type);
  if (otherwise !== undefined)
    return fold(input.value) || (input.hasAttribute('value') ? '' : otherwise);
  if (input.type !== 'image') return '';
  const { alt } = input;
  return fold(alt) || fold(input.title) || 'Submit';
}

/** What stands in it: all that is spoken for what is named by content, a row's own words for a row. */
function byContent(el: Element, role: string): string {
  if (isA(el, 'input') || isA(el, 'textarea') || isA(el, 'select')) return '';
  if (isNamedByContent(role)) return spokenText(el);
  if (listed(role)) return ownText(el);
  return role === 'generic' ? spokenText(el) : '';
}

/** Titles, captions, placeholders. */
function otherwise(el: Element, role: string): string {
  const name = byRules(el);
  if (name !== '') return name;
  if (role === 'iframe') return own(el).getAttribute('name') ?? '';
  return own(el).getAttribute('placeholder') ?? own(el).getAttribute('aria-placeholder') ?? '';
}

const CAPTIONED = new Set('fieldset table figure'.split(' '));

/** By accname, but not where aria-owns leads in circles; a form is named by nothing but attributes. */
function byRules(el: Element): string {
  const title = own(el).getAttribute('title') ?? '';
  if (!CAPTIONED.has(tagOf(el))) return fold(title);
  try {
    return computeAccessibleName(own(el), {
      getComputedStyle: (of) => getComputedStyle(of),
      computedStyleSupportsPseudoElements: false,
    });
  } catch {
    return fold(title);
  }
}
