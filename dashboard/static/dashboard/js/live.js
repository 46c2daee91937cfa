// Parts that renew themselves: asked again while the page is looked at, at rest while it is hidden.
import { word } from "./words.js";

const STALE_AFTER = 3;

const since = (moment) => {
  const seconds = Math.round((Date.now() - moment) / 1000);
  if (seconds < 5) return word("justNow");
  return seconds < 90 ? word("secondsAgo", { number: seconds }) : word("minutesAgo", { number: Math.round(seconds / 60) });
};

function watch(part) {
  const every = Number(part.dataset.live) * 1000;
  const words = document.querySelector("[data-updated]");
  const warning = document.querySelector("[data-stale]");
  let renewed = Date.now();
  let failures = 0;

  const ask = () => {
    if (!part.isConnected) return stop();
    if (!document.hidden && !part.querySelector("[data-hold]:focus-within")) htmx.trigger(part, "renew");
  };
  const say = () => {
    if (words) words.textContent = since(renewed);
    if (warning) warning.hidden = failures < STALE_AFTER;
  };
  part.addEventListener("htmx:after:request", (event) => {
    const fine = event.detail?.ctx?.response?.raw?.ok ?? false;
    failures = fine ? 0 : failures + 1;
    if (fine) renewed = Date.now();
    say();
  });
  part.addEventListener("htmx:error", () => { failures += 1; say(); });
  const onShow = () => { if (!document.hidden && Date.now() - renewed > every) ask(); };
  document.addEventListener("visibilitychange", onShow);
  const asking = setInterval(ask, every);
  const saying = setInterval(say, 1000);
  function stop() {
    clearInterval(asking);
    clearInterval(saying);
    document.removeEventListener("visibilitychange", onShow);
  }
}

const watched = new WeakSet();

export function keepAlive() {
  const begin = () => document.querySelectorAll("[data-live]").forEach((part) => {
    if (watched.has(part)) return;
    watched.add(part);
    watch(part);
  });
  begin();
  document.addEventListener("htmx:after:swap", begin);
}
