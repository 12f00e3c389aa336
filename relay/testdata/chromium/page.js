// The smallest page script that can locate, see whether a click landed, and wait.
if (!Object.hasOwn(globalThis, 'chaperone')) {
  let clicked = '';
  let adopted;
  addEventListener('click', (event) => (clicked = event.isTrusted ? event.target.id : ''), true);

  const quiet = ({ quiet_ms, max_ms }) =>
    new Promise((resolve) => {
      const finish = (isQuiet) => {
        observer.disconnect();
        clearTimeout(end);
        clearTimeout(calm);
        resolve({ quiet: isQuiet });
      };
      const observer = new MutationObserver(() => {
        clearTimeout(calm);
        calm = setTimeout(finish, quiet_ms, true);
      });
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      const end = setTimeout(finish, max_ms, false);
      let calm = setTimeout(finish, quiet_ms, true);
    });

  const functions = {
    '@state': () => ({ url: location.href, title: document.title, page_sees: typeof globalThis.planted }),
    '@text': () => (document.body?.innerText ?? '') + (adopted?.textContent ?? ''),
    '@adopt': (root) => void (adopted = root),
    '@locate': ({ target, read_only }) => {
      const box = document.getElementById(target.name).getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2, read_only: read_only === true };
    },
    '@landed': () => ({ landed: clicked }),
    '@history': ({ delta }) => void setTimeout(() => history.go(delta)),
    '@quiet': quiet,
    '@owner': (element) => {
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      return {
        node: Number(element.dataset.node),
        x: box.x + element.clientLeft + parseFloat(style.paddingLeft),
        y: box.y + element.clientTop + parseFloat(style.paddingTop),
      };
    },
  };
  functions['@over'] = ({ node, x, y }) => {
    const frame = document.querySelector(`[data-node="${node}"]`);
    const corner = functions['@owner'](frame);
    const point = { x: corner.x + x, y: corner.y + y };
    if (document.elementFromPoint(point.x, point.y) !== frame) throw new Error('covered');
    return point;
  };
  const hosts = () => (adopted ? [] : [...document.querySelectorAll('x-closed')]);
  const answer = async (name, args) => {
    try {
      return JSON.stringify({ value: await functions[name](args), hosts: hosts().length > 0 });
    } catch (error) {
      return JSON.stringify({ error: { code: 'internal', message: String(error) } });
    }
  };
  globalThis.chaperone = (name, args) => (name === '@hosts' ? hosts() : answer(name, args));
}
