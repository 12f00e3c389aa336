/** Image maps: their areas have no boxes, only shapes on each picture that uses the map. */

import { isA, own } from './dom.ts';
import { closest } from './flat.ts';
import type { Box } from './sight.ts';

/** The areas of the picture's map that lead somewhere. */
export function areasOf(picture: Element): HTMLAreaElement[] {
  const map = isA(picture, 'img') ? mapOf(picture) : null;
  return map
    ? Array.from(map.querySelectorAll('area')).filter((area) => area.hasAttribute('href'))
    : [];
}

function mapOf(picture: HTMLImageElement): HTMLMapElement | null {
  const name = (picture.getAttribute('usemap') ?? '').replace(/^#/, '');
  if (name === '') return null;
  const maps = Array.from(document.querySelectorAll('map'));
  return maps.find((map) => map.name === name) ?? null;
}

/** The picture that shows the area; null for what is no area of a picture. */
export function pictureOf(area: Element): HTMLImageElement | null {
  const map = isA(area, 'area') ? closest(area, (at) => isA(at, 'map')) : null;
  if (!isA(map, 'map') || map.name === '') return null;
  const pictures = Array.from(document.querySelectorAll('img[usemap]'));
  const shown = pictures.find((picture) => isA(picture, 'img') && mapOf(picture) === map);
  return isA(shown, 'img') ? shown : null;
}

/** The box in the viewport around the area's shape, where a press on its middle is a press on it mostly. */
export function areaBox(area: Element): Box | null {
  const picture = pictureOf(area);
  if (picture === null) return null;
  const box = own(picture).getBoundingClientRect();
  const shape = shapeOf(area);
  if (shape === null) return { left: box.left, top: box.top, right: box.right, bottom: box.bottom };
  return {
    left: Math.max(box.left, box.left + shape.left),
    top: Math.max(box.top, box.top + shape.top),
    right: Math.min(box.right, box.left + shape.right),
    bottom: Math.min(box.bottom, box.top + shape.bottom),
  };
}

function shapeOf(area: Element): Box | null {
  const shape = (own(area).getAttribute('shape') ?? 'rect').toLowerCase();
  const numbers = (own(area).getAttribute('coords') ?? '').split(/[\s,]+/).map(Number);
  if (shape === 'default' || numbers.some(Number.isNaN)) return null;
  const [x = 0, y = 0, r = 0] = numbers;
  if (shape.startsWith('circ')) return { left: x - r, top: y - r, right: x + r, bottom: y + r };
  const across = numbers.filter((_, i) => i % 2 === 0);
  const down = numbers.filter((_, i) => i % 2 === 1);
  return {
    left: Math.min(...across),
    top: Math.min(...down),
    right: Math.max(...across),
    bottom: Math.max(...down),
  };
}
