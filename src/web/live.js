// Follows what happens: when the listener says that there is a new look, the page asks for itself again, and what has
// changed is written into what is shown. Without this script, the page is the same, but stands still.
"use strict";
(() => {
  const button = document.querySelector("button.live");
  const wanted = document.body.dataset.live === "1" && document.querySelector("form.confirm") === null;
  if (!wanted && document.querySelector("form.confirm")) return;

  let running = wanted;
  let source = null;
  let request = null;
  let asking = false;
  let again = false;
  // When it was last seen how the queues stand.
  let seen = isSeen() ? Date.now() : null;
  let interval = 2;

  // One stream serves all tabs of a browser: the tab that holds the lock has it, and tells the others. Plain http from
  // another machine has no locks: there, each tab has its own stream, and tells nobody.
  const streamUrl = new URL(document.body.dataset.stream, location.href).href;
  const channel = navigator.locks ? new BroadcastChannel("qless " + streamUrl) : null;
  if (channel) channel.onmessage = (message) => looked(message.data);

  button.hidden = false;
  button.addEventListener("click", toggle);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea, button, a, summary, [tabindex]");
    if (event.key !== " " || typing || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    toggle();
  });
  document.addEventListener("visibilitychange", connect);
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", connect);
  setInterval(showAge, 1000);
  connect();

  function toggle() {
    running = !running;
    connect();
  }

  function connect() {
    const needed = running && !document.hidden;
    if (!needed) {
      close();
      showAge();
      return;
    }
    showAge();
    if (source || request) return;
    if (!channel) {
      open();
      return;
    }
    request = new AbortController();
    const { signal } = request;
    const gone = new Promise((done) => signal.addEventListener("abort", done));
    navigator.locks.request(channel.name, { signal }, () => {
      if (signal.aborted) return undefined;
      open();
      return gone;
    }).catch(() => {});
  }

  function open() {
    if (source) return;
    source = new EventSource(streamUrl);
    for (const name of ["look", "away"]) {
      source.addEventListener(name, (event) => {
        const news = { name, interval: JSON.parse(event.data).interval_s };
        if (channel) channel.postMessage(news);
        looked(news);
      });
    }
  }

  function close() {
    if (source) source.close();
    source = null;
    if (request) request.abort();
    request = null;
  }

  function looked(news) {
    interval = news.interval;
    if (running && !document.hidden) refresh();
  }

  async function refresh() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      const type = answer.headers.get("Content-Type") || "";
      if (type.startsWith("text/html")) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const why = fresh.querySelector("main .away");
        if (running) tell(why);
        if (running && !(why && isSeen())) show(fresh);
        if (!why) seen = Date.now();
      }
    } catch {
      // The listener is away: the age of what is shown says so.
    }
    asking = false;
    showAge();
    if (again) {
      again = false;
      refresh();
    }
  }

  // Whether the page shows what was seen of the queues, and not only why nothing can be seen.
  function isSeen() {
    return document.querySelector("main .away") === null;
  }

  // Whether the page says why nothing new can be seen.
  function isTold() {
    return document.querySelector("body > .away") !== null;
  }

  // Says above what was seen before why nothing new can be seen: in one line, with the steps behind a click.
  function tell(why) {
    const told = document.querySelector("body > .away");
    if (!why || !isSeen()) {
      if (told) told.remove();
      return;
    }
    const line = document.importNode(why, true);
    line.querySelector("details").open = false;
    if (!told) document.querySelector("main").before(line);
    else if (!isHeld(told)) become(told, line);
  }

  function show(fresh) {
    if (document.title !== fresh.title) document.title = fresh.title;
    for (const part of ["main", "body > footer"]) {
      const [now, next] = [document.querySelector(part), fresh.querySelector(part)];
      if (now && next) become(now, next);
    }
  }

  // Whether somebody is at an element: it has the focus, is selected, or has an open menu.
  function isHeld(element) {
    const focus = document.activeElement;
    if (focus && focus !== document.body && element.contains(focus)) return true;
    if (element.querySelector("details[open]")) return true;
    const selection = document.getSelection();
    return Boolean(selection && !selection.isCollapsed && selection.containsNode(element, true));
  }

  const keyOf = (node) => (node.dataset ? node.dataset.key : undefined);

  // Makes an element like another one, in place.
  function become(now, next) {
    if (now.isEqualNode(next)) return;
    if (now.matches("form.filter, details, tr, li, pre") && isHeld(now)) return;
    for (const { name } of [...now.attributes]) if (!next.hasAttribute(name)) now.removeAttribute(name);
    for (const { name, value } of [...next.attributes]) {
      if (now.getAttribute(name) !== value) now.setAttribute(name, value);
    }
    const keyed = [...next.children].some((child) => keyOf(child) !== undefined);
    if (keyed) becomeRows(now, next);
    else becomeParts(now, next);
  }

  function becomeParts(now, next) {
    const parts = [...next.childNodes];
    parts.forEach((part, at) => {
      const old = now.childNodes[at];
      if (!old) now.append(document.importNode(part, true));
      else if (old.nodeType !== part.nodeType || old.nodeName !== part.nodeName) {
        old.replaceWith(document.importNode(part, true));
      } else if (part.nodeType === Node.ELEMENT_NODE) become(old, part);
      else if (old.nodeValue !== part.nodeValue) old.nodeValue = part.nodeValue;
    });
    while (now.childNodes.length > parts.length) now.lastChild.remove();
  }

  // Rows are known by their keys. Under the pointer none moves, comes or goes: the new order waits for a click.
  function becomeRows(now, next) {
    const old = new Map([...now.children].map((row) => [keyOf(row), row]));
    for (const row of next.children) {
      const same = old.get(keyOf(row));
      if (same) become(same, row);
    }
    const order = (element) => [...element.children].map(keyOf).join("\n");
    const table = now.closest("table, ul");
    const isTouched = table && (table.matches(":hover") || isHeld(table));
    if (order(now) === order(next)) return offer(table, null);
    if (isTouched) return offer(table, () => arrange(now, next, old));
    arrange(now, next, old);
    offer(table, null);
  }

  function arrange(now, next, old) {
    const rows = [...next.children].map((row) => {
      const same = old.get(keyOf(row));
      if (same) return same;
      const added = document.importNode(row, true);
      added.classList.add("fresh");
      return added;
    });
    rows.forEach((row, at) => {
      if (now.children[at] !== row) now.insertBefore(row, now.children[at] || null);
    });
    while (now.children.length > rows.length) now.lastElementChild.remove();
  }

  function offer(table, take) {
    if (!table) return;
    const section = table.closest("section");
    const heading = section && section.querySelector("h1, h2");
    if (!heading) return;
    let order = heading.querySelector("button.order");
    if (!take) {
      if (order) order.remove();
      return;
    }
    if (!order) {
      order = document.createElement("button");
      order.type = "button";
      order.className = "order";
      order.textContent = "new order ▲";
      heading.append(order);
      table.addEventListener("mouseleave", () => order.isConnected && order.onclick(), { once: true });
    }
    order.onclick = () => {
      order.remove();
      take();
    };
  }

  function showAge() {
    const age = seen === null ? null : Math.round((Date.now() - seen) / 1000);
    const isOld = running && (isTold() || age === null || age > interval * 2 + 2);
    button.classList.toggle("paused", !running);
    button.classList.toggle("old", isOld);
    const slow = interval > 2 ? `live, each ${Math.round(interval)} s` : "live";
    button.textContent = !running ? "paused" : !isOld ? slow : age === null ? "away" : `${age} s old`;
  }
})();
