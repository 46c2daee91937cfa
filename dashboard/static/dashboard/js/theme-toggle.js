// Light or dark: the system's wish until a person chooses.
import { word } from "./words.js";

export const theme = () =>
  document.documentElement.dataset.theme ||
  (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

const announce = () => document.dispatchEvent(new CustomEvent("theme"));

export function offerThemes() {
  const button = document.querySelector("[data-theme-toggle]");
  if (!button) return;
  button.hidden = false;
  const name = () => button.setAttribute("aria-label", word(theme() === "dark" ? "toLight" : "toDark"));
  name();
  button.addEventListener("click", () => {
    const next = theme() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
    name();
    announce();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
}
