// Keep the page current: one stream a tab, closed while the tab is hidden. Pages work without this file.
"use strict";
(() => {
  const live = document.getElementById("live");
  let cursor = document.body.dataset.cursor;
  let seen = Date.now();
  let stream = null;
  let pause = 1000;
  let timer = 0;
  let opened = 0;

  const isTyped = () => [...document.querySelectorAll("main textarea, main input")].some(
    (field) => field === document.activeElement || (field.type === "radio" ? field.checked : field.value !== ""));

  async function refresh() {
    if (isTyped()) return;
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const before = document.querySelector("main");
    const after = fresh.querySelector("main");
    if (!after || isTyped()) return;
    // The result of an answer is on no page that is fetched.
    if (document.body.dataset.note) after.prepend(before.firstElementChild.cloneNode(true));
    const folded = [...before.querySelectorAll("details")].map((one) => one.open);
    const links = [...before.querySelectorAll("a")];
    const focused = links.indexOf(document.activeElement);
    const scrolled = [...before.querySelectorAll("pre")].map((one) => one.scrollTop);
    [...after.querySelectorAll("details")].forEach((one, at) => { if (at in folded) one.open = folded[at]; });
    if (before.innerHTML !== after.innerHTML) before.replaceWith(after);
    [...document.querySelectorAll("main pre")].forEach((one, at) => { one.scrollTop = scrolled[at] || 0; });
    document.querySelector("header").innerHTML = fresh.querySelector("header").innerHTML;
    if (focused >= 0) [...document.querySelectorAll("main a")][focused]?.focus();
    cursor = fresh.body.dataset.cursor;
  }

  function heard(message) {
    seen = Date.now();
    pause = 1000;
    cursor = message.data;
    if (message.type !== "beat") refresh().catch(() => {});
  }

  function open() {
    close();
    opened = Date.now();
    const page = encodeURIComponent(location.pathname);
    stream = new EventSource(`/stream?after=${cursor}&page=${page}`);
    for (const kind of ["changed", "beat", "resync"]) stream.addEventListener(kind, heard);
    stream.onopen = () => { seen = Date.now(); refresh().catch(() => {}); };
    stream.onerror = () => {
      close();
      timer = setTimeout(open, pause);
      pause = Math.min(pause * 2, 4000);
    };
  }

  function close() {
    clearTimeout(timer);
    if (stream) stream.close();
    stream = null;
  }

  function age() {
    const seconds = Math.round((Date.now() - seen) / 1000);
    const isOff = !stream || stream.readyState !== EventSource.OPEN || seconds > 15;
    live.textContent = isOff ? "not connected" : `updated ${seconds} s ago`;
    live.className = isOff ? "off" : "";
    // After a sleep the connection may be dead without an error: beats come every 5 s.
    if (stream && Date.now() - Math.max(seen, opened) > 12000) open();
  }

  const up = () => { const links = document.querySelectorAll(".above a"); links[links.length - 1]?.click(); };
  const step = (by) => {
    const links = [...document.querySelectorAll("main a")];
    if (links.length) links[(links.indexOf(document.activeElement) + by + links.length) % links.length].focus();
  };
  const keys = {
    n: () => { location.href = "/"; }, q: () => { location.href = "/questions"; }, u: up, r: () => location.reload(),
    j: () => step(1), k: () => step(-1), "?": () => { location.href = "/keys"; },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("offline", close);
  window.addEventListener("online", open);
  setInterval(age, 1000);
  if (!document.hidden) open();
})();
