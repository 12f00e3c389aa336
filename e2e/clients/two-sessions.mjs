// Two Playwrights, each in a session of its own of one project: neither may see or disturb what is the other's.
import { chromium } from 'playwright-core';
import { road, step } from './lib.mjs';

const { site, roads } = road;
const clients = [];

const counts = () => clients.map((c) => c.context.pages().length).join(' and ');
const popupOf = async ({ page }) => {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#open')]);
  await popup.waitForSelector('#text');
};

await step('connect', async () => {
  for (const { http } of roads) {
    const browser = await chromium.connectOverCDP(http);
    clients.push({ browser, context: browser.contexts()[0] });
  }
  return counts();
});
await step('a tab each', async () => {
  for (const c of clients) {
    c.page = c.context.pages()[0] ?? (await c.context.newPage());
    await c.page.goto(`${site}/`);
  }
  return counts();
});
await step('a window of the first', async () => {
  await popupOf(clients[0]);
  return counts();
});
await step('a window of the second', async () => {
  await popupOf(clients[1]);
  return counts();
});
await step('both at once', async () => {
  const work = async ({ page }, n) => {
    const seen = [];
    for (let i = 0; i < 20; i++) {
      await page.click('#count');
      seen.push(await page.evaluate((m) => [window.n, m], n));
    }
    return seen.every(([count, m], i) => count === i + 1 && m === n);
  };
  return (await Promise.all(clients.map(work))).join(' and ');
});
await step('the second leaves', async () => {
  await clients[1].browser.close();
  await clients[0].page.click('#count');
  return clients[0].page.textContent('#out');
});
await step('leave', async () => {
  await clients[0].browser.close();
  return clients.some((c) => c.browser.isConnected());
});
