// Sentences that scripts say, written by the server in the page's language: `{name}` stands for a value.
export function word(name, values = {}) {
  const text = document.querySelector("[data-words]")?.dataset[name] ?? "";
  return text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}
