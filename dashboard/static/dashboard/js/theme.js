// Loaded in the head, before anything is drawn: the chosen theme must not flash the other one.
(() => {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
})();
