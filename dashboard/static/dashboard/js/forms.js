// Small courtesies of forms: send on change, pick all, close a menu on a click elsewhere.
export function tendForms() {
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-send-on-change]")) event.target.form.requestSubmit();
    if (event.target.matches("[data-pick-all]")) {
      document.querySelectorAll("[data-pick]").forEach((box) => { box.checked = event.target.checked; });
    }
    if (event.target.matches("[data-pick], [data-pick-all]")) {
      const any = document.querySelector("[data-pick]:checked");
      document.querySelectorAll("[data-needs-pick]").forEach((button) => { button.disabled = !any; });
    }
  });
  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; menu.querySelector("summary").focus(); });
  });
}
