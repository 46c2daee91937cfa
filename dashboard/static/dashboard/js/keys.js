// `/` finds, `j` and `k` walk the rows, Enter opens, `?` shows this list. Keys of the browser are never taken.
const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

const rows = () => [...document.querySelectorAll("[data-row]")];

function walk(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step))];
  next.querySelector("[data-row-link]").focus();
}

let first = "";

export function followKeys() {
  const help = document.querySelector("[data-keys-help]");
  document.querySelectorAll("[data-show-keys]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => help.showModal());
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && event.target.matches("input[type=search]")) event.target.blur();
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const places = { o: "overview", s: "suites", i: "inhouse", c: "compare", a: "about" };
    const link = first === "g" && document.querySelector(`[data-go="${places[event.key]}"]`);
    first = event.key;
    if (link) return link.click();
    if (event.key === "/") {
      const box = [...document.querySelectorAll("[data-find]")].find((input) => input.offsetParent);
      if (!box) return;
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "j") walk(1);
    else if (event.key === "k") walk(-1);
    else if (event.key === "?") help?.showModal();
  });
}
